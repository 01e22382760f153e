import { bottleneck, byBlocked } from "@/features/timing/bottleneck";
import { byBusy, taskShares } from "@/features/timing/shares";
import type { Simulation } from "@/features/timing/simulation";
import { number, percent } from "@/lib/format";

const SHOWN = 8;

function BusiestTasks({ simulation }: { simulation: Simulation }) {
  const several = simulation.kernels.length > 1;
  return (
    <table className="pairs bars">
      <tbody>
        {byBusy(taskShares(simulation))
          .slice(0, SHOWN)
          .map((t) => (
            <tr key={t.name}>
              <th scope="row" className="wrap">
                <code>{t.name}</code>
                {several && <small className="faint"> kernel {t.kernel}</small>}
              </th>
              <td className="bar-cell">
                <span className="stack" aria-hidden="true">
                  <i className="use-busy" style={{ width: `${100 * t.busy}%` }} />
                  <i className="use-waiting" style={{ width: `${100 * t.empty}%` }} />
                  <i className="use-blocked" style={{ width: `${100 * t.full}%` }} />
                </span>
              </td>
              <td className="num">{percent(t.busy)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function FullestFifos({ simulation }: { simulation: Simulation }) {
  const full = byBlocked(simulation).slice(0, SHOWN);
  if (!full.length) return <p className="hint">No FIFO keeps a task waiting for room.</p>;
  return (
    <table className="data compact">
      <tbody>
        {full.map((f) => (
          <tr key={f.name}>
            <td className="wrap">
              <code>{f.name}</code>
              <small className="faint">
                {f.source} → {f.target}
              </small>
            </td>
            <td className="num">{number(f.full)} cycles</td>
            <td className="num">{percent(f.full / (simulation.cycles || 1))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the design waits for: in words, the tasks that work most, the FIFOs that block most. */
export function LimitsBlock({ simulation }: { simulation: Simulation }) {
  const [first, ...rest] = bottleneck(simulation);
  return (
    <section className="block" aria-label="What limits it" data-testid="limits">
      <h2>What limits it</h2>
      <p>
        <strong>{first}</strong> {rest.join(" ")}
      </p>
      <div className="group">
        <h3>Busiest tasks, share of their kernel's time</h3>
        <BusiestTasks simulation={simulation} />
      </div>
      <div className="group">
        <h3 title="Without those of loads, which run ahead of the use of their data">FIFOs that block most, loads aside</h3>
        <FullestFifos simulation={simulation} />
      </div>
    </section>
  );
}
