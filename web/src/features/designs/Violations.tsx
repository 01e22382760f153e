import { label } from "@/features/designs/metrics";
import type { Design, SimulationSummary } from "@/lib/api/types";
import { number, percent } from "@/lib/format";

/** Why the design can not be built, the budgets of the board that it exceeds and by how much, or what refutes it. */
export function Violations({ design: { violations, reason, simulation } }: { design: Design }) {
  if (!violations.length && !reason) return simulation?.refuted ? <Refuted simulation={simulation} /> : null;
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

/** Who waits for whom in a design that deadlocks stands under Timing. */
function Refuted({ simulation: { refuted, latency_us } }: { simulation: SimulationSummary }) {
  return (
    <div className="note note-bad" data-testid="refuted">
      <strong>Refuted by its simulation</strong>
      {latency_us === null ? (
        <p>
          It deadlocks: <a href="#timing">who waits for whom</a>
        </p>
      ) : (
        <p className="pre">{refuted}</p>
      )}
    </div>
  );
}
