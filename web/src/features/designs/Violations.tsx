import { label } from "@/features/designs/metrics";
import type { Design } from "@/lib/api/types";
import { number, percent } from "@/lib/format";

/** Why the design can not be built, or the budgets of the board that it exceeds and by how much. */
export function Violations({ design: { violations, reason } }: { design: Design }) {
  if (!violations.length && !reason) return null;
  return (
    <div className="note note-bad" data-testid="violations">
      <strong>{violations.length ? "Does not fit the board" : "Can not be built"}</strong>
      {reason && <p className="pre">{reason}</p>}
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
