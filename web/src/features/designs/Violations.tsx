import { label } from "@/features/designs/metrics";
import type { Design } from "@/lib/api/types";
import { number, percent } from "@/lib/format";

/**
 * Why the design can not be built, the budgets of the board that it exceeds and by how much, or what refutes it. Who
 * waits for whom in one that deadlocks stands under Timing.
 */
export function Violations({ design: { violations, reason, simulation } }: { design: Design }) {
  const why = reason ?? (violations.length ? null : simulation?.refuted);
  if (!violations.length && !why) return null;
  const refuted = !violations.length && !reason;
  return (
    <div className="note note-bad" data-testid={refuted ? "refuted" : "violations"}>
      <strong>
        {refuted ? "Refuted by its simulation" : violations.length ? "Does not fit the board" : "Can not be built"}
      </strong>
      {refuted && simulation?.latency_us === null ? (
        <p>
          It deadlocks: <a href="#timing">who waits for whom</a>
        </p>
      ) : (
        why && <p className="pre">{why}</p>
      )}
      <ul>
        {violations.map((v) => (
          <li key={v.resource} className="num">
            {label(v.resource)}: {number(v.demand)} of {number(v.bound)}
            {v.bound > 0 && ` (${percent(v.demand / v.bound - 1)} over)`}
          </li>
        ))}
      </ul>
    </div>
  );
}
