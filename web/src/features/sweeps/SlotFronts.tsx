import { useMemo, useState } from "react";
import { Toggle } from "@/components/Toggle";
import { FrontsChart } from "@/features/sweeps/FrontsChart";
import { useBothClouds } from "@/features/sweeps/api/getFronts";
import { overlay } from "@/features/sweeps/fronts";
import type { FrontChange, SlotComparison } from "@/lib/api/sweeps";
import { number, signedPercent } from "@/lib/format";
import { latencyAt } from "@/lib/objectives";

const MARKS = [
  ["sweep-after", "Front now"],
  ["sweep-before", "Front before"],
  ["sweep-new", "New"],
  ["sweep-lost", "Lost"],
  ["sweep-moved", "Moved"],
] as const;

function inWords(f: FrontChange): string {
  const counts = [
    [f.new_count, "new"],
    [f.lost_count, "lost"],
    [f.moved_count, "moved"],
  ] as const;
  const said = counts.filter(([count]) => count).map(([count, word]) => `${number(count)} ${word}`);
  return said.join(", ") || "no point changed";
}

/** The fronts of one exploration of the run, before and now. */
export function SlotFronts({ slot }: { slot: SlotComparison }) {
  const [chosen, choose] = useState<string | null>(null);
  const [before, after] = useBothClouds(slot.baseline_exploration, slot.exploration);
  const change = slot.fronts.find((f) => f.fidelity === chosen) ?? slot.fronts[0];
  const fronts = useMemo(
    () => (change ? overlay(change, latencyAt(slot.objectives), before, after) : null),
    [change, slot.objectives, before, after],
  );
  if (!change || !fronts) return <p className="hint">There is no front to compare with.</p>;
  const worse = change.change !== null && change.change < 0;
  return (
    <>
      <div className="plot-bar">
        <ul className="legend" aria-label="Legend">
          {MARKS.map(([mark, text]) => (
            <li key={mark}>
              <i className={`mark mark-${mark}`} />
              {text}
            </li>
          ))}
        </ul>
        {slot.fronts.length > 1 && (
          <div className="toggles" role="group" aria-label="Fidelity of the fronts">
            {slot.fronts.map((f) => (
              <Toggle key={f.fidelity} label={f.fidelity} on={f === change} onChange={() => choose(f.fidelity)} />
            ))}
          </div>
        )}
      </div>
      <FrontsChart fronts={fronts} objectives={slot.objectives} fidelity={change.fidelity} />
      <p className="hint" data-testid="front-words">
        {inWords(change)}; hypervolume{" "}
        <span className={worse ? "bad num" : "num"}>{change.change === null ? "without a comparison" : signedPercent(change.change)}</span>
      </p>
    </>
  );
}
