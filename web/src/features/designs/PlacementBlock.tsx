import { Meter } from "@/components/Meter";
import { type Placement, crossingsText, diesOf, shortfallText, stackedUse, tasksByDie } from "@/features/designs/dataflow";
import { label } from "@/features/designs/metrics";
import type { Platform } from "@/lib/api/types";
import { number, percent } from "@/lib/format";

const METHODS: Record<string, string> = {
  "one-die": "all on one die",
  milp: "found by integer programming",
  local: "found by local search",
  infeasible: "nothing holds all limits, as integer programming proved",
};

/** On which die (SLR) how much of each resource lies, as one bar a resource. */
function Use({ placement, platform }: { placement: Placement; platform: Platform | undefined }) {
  const dies = diesOf(placement);
  return (
    <table className="pairs bars">
      <tbody>
        {stackedUse(placement, platform?.budgets).map(({ resource, total, shares }) => (
          <tr key={resource}>
            <th scope="row">{label(resource)}</th>
            <td className="bar-cell">
              <span
                className="stack"
                role="img"
                aria-label={dies.map((die, i) => `${die} ${percent(shares[i] ?? 0)}`).join(", ")}
                title={dies.map((die, i) => `${die}: ${percent(shares[i] ?? 0)}`).join("\n")}
              >
                {dies.map((die, i) => (
                  <i key={die} className={`die-${i % 4}`} style={{ width: `${100 * (shares[i] ?? 0)}%` }} />
                ))}
              </span>
            </td>
            <td className="num">{number(Math.round(total))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Which tasks lie on which die, what crosses between dies, and what does not fit. */
export function PlacementBlock({ placement, platform }: { placement: Placement; platform: Platform | undefined }) {
  const tasks = tasksByDie(placement);
  return (
    <section className="block" aria-label="Placement" data-testid="placement">
      <h2>Placement</h2>
      <ul className="legend">
        {diesOf(placement).map((die, i) => (
          <li key={die}>
            <i className={`mark die-${i % 4}`} />
            {die}: {number(tasks[i] ?? 0)} tasks
          </li>
        ))}
      </ul>
      <Use placement={placement} platform={platform} />
      {placement.boundaries.map((b) => (
        <Meter key={b.lower} label={`${b.lower} to ${b.upper}, wires`} value={b.wires} bound={b.available} />
      ))}
      <p className="hint">
        {crossingsText(placement)} · {METHODS[placement.method] ?? placement.method}
        {placement.gap > 0 && `, at most ${percent(placement.gap)} above the best`}
      </p>
      {placement.shortfalls.map((s) => (
        <p key={`${s.subject} ${s.resource}`} className="bad">
          {shortfallText(s)}; try {s.levers.join(", or ")}
        </p>
      ))}
    </section>
  );
}
