import { label } from "@/features/designs/metrics";
import type { Violation } from "@/lib/api/types";
import { number, percent } from "@/lib/format";

/** Budgets of the board that the design exceeds, and by how much. */
export function Violations({ violations }: { violations: readonly Violation[] }) {
  if (!violations.length) return null;
  return (
    <div className="note note-bad" data-testid="violations">
      <strong>Does not fit the board</strong>
      <ul>
        {violations.map((v) => (
          <li key={v.resource} className="num">
            {label(v.resource)}: {number(v.demand)} of {number(v.bound)}
            {v.bound > 0 && ` (${percent(v.demand / v.bound - 1)} too many)`}
          </li>
        ))}
      </ul>
    </div>
  );
}
