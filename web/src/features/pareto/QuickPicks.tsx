import type { Point, Snapshot } from "@/features/pareto/cloud";
import { at, isSimulated } from "@/features/pareto/fidelity";
import { KNEE, knee } from "@/features/pareto/shape";
import { withUnit } from "@/lib/format";

interface Props {
  snapshot: Snapshot;
  onSelect(id: string): void;
}

/**
 * What the right-hand side offers before a design is chosen: the two ends and the knee of the front, by simulated latency
 * as soon as a design of the front has one, as `dse.promote.picks`.
 */
export function QuickPicks({ snapshot, onSelect }: Props) {
  const fidelity = snapshot.front.some(isSimulated) ? "simulate" : "estimate";
  const ranked = { ...snapshot, points: snapshot.front };
  const { front } = at(ranked, fidelity);
  const picks: [string, string, Point | undefined][] = [
    ["Fastest", "lowest latency", front[0]],
    ["Knee", KNEE, front.length > 2 ? front[knee(front)] : undefined],
    ["Least energy", "lowest energy", front.length > 1 ? front.at(-1) : undefined],
  ];
  return (
    <aside className="card panel picks" aria-label="Choose a design">
      <h2>Choose a design</h2>
      <p className="hint">Click a point of the plot or a row of the table to see its knobs, metrics and files.</p>
      {picks.map(
        ([name, meaning, point]) =>
          point && (
            <button key={name} type="button" className="pick" onClick={() => onSelect(point.id)}>
              <span>
                <strong>{name}</strong>
                <small>{meaning}</small>
              </span>
              <span className="num">
                {withUnit(point.latency, "us")} <small className="inline">{fidelity}</small>
                {fidelity === "simulate" && <small>{withUnit(point.estimate, "us")} estimate</small>}
                <small>{withUnit(point.energy, "uJ")} estimate</small>
              </span>
            </button>
          ),
      )}
    </aside>
  );
}
