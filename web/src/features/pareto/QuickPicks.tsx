import type { Point, Snapshot } from "@/features/pareto/cloud";
import { type Shown, at, isSimulated } from "@/features/pareto/fidelity";
import { KNEE, knee } from "@/features/pareto/shape";
import type { Objective } from "@/lib/api/types";
import { withUnit } from "@/lib/format";
import { inWords, latencyAt, title } from "@/lib/objectives";

type Choice = [name: string, meaning: string, point: Point | undefined];

/** The first of a front that has the least of an objective. */
const least = (front: readonly Point[], place: number): Point | undefined =>
  front.reduce<Point | undefined>(
    (found, p) => (found && (found.objectives[place] ?? 0) <= (p.objectives[place] ?? 0) ? found : p),
    undefined,
  );

/** An objective with its fidelity; that of a simulated latency also by the estimate. */
function Value({ objective, point, place, fidelity }: { objective: Objective; point: Point; place: number; fidelity: Shown }) {
  const value = withUnit(point.objectives[place], objective.unit);
  if (objective.name !== "latency") return <small>{value} estimate</small>;
  return (
    <>
      {value} <small className="inline">{fidelity}</small>
      {fidelity === "simulate" && <small>{withUnit(point.estimate, objective.unit)} estimate</small>}
    </>
  );
}

interface Props {
  snapshot: Snapshot;
  objectives: readonly Objective[];
  onSelect(id: string): void;
}

/**
 * What the right-hand side offers before a design is chosen: the best in each objective and the knee of the front, by
 * simulated latency as soon as a design of the front has one, as `dse.promote.picks`.
 */
export function QuickPicks({ snapshot, objectives, onSelect }: Props) {
  const fidelity = snapshot.front.some(isSimulated) ? "simulate" : "estimate";
  const ranked = { ...snapshot, points: snapshot.front };
  const { front } = at(ranked, fidelity, latencyAt(objectives));
  const best = objectives.map((objective, place): Choice => [
    title(objective.best),
    `lowest ${inWords([objective])}`,
    least(front, place),
  ]);
  const [first, ...others] = front.length > 1 ? best : best.slice(0, 1);
  const middle: Choice = ["Knee", KNEE, front.length > 2 ? front[knee(front)] : undefined];
  const picks = first ? [first, middle, ...others] : [];
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
                {objectives.map((objective, place) => (
                  <Value key={objective.name} objective={objective} point={point} place={place} fidelity={fidelity} />
                ))}
              </span>
            </button>
          ),
      )}
    </aside>
  );
}
