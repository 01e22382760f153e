import { BuildSubject } from "@/components/BuildSubject";
import type { Build } from "@/lib/api/types";
import { duration, parseTime } from "@/lib/format";
import { Link } from "@/lib/router";

function Row({ build: b, now }: { build: Build; now: number }) {
  const elapsed = b.started_at ? (now - parseTime(b.started_at)) / 1000 : 0;
  const share = b.timeout_s ? Math.min(1, elapsed / b.timeout_s) : 0;
  return (
    <tr data-build={b.id}>
      <td>
        <Link href={`/builds/${b.id}`} className="strong">
          {b.stage}
        </Link>
      </td>
      <td>{b.node}</td>
      <td>
        <BuildSubject build={b} />
      </td>
      <td className="num">{b.started_at ? duration(elapsed) : "–"}</td>
      <td>
        {b.timeout_s !== null && (
          <span className="progress busy" title={`${duration(elapsed)} of at most ${duration(b.timeout_s)}`}>
            <i style={{ width: `${100 * share}%` }} />
          </span>
        )}
      </td>
      <td>{b.attempt > 1 ? `attempt ${b.attempt}` : ""}</td>
    </tr>
  );
}

/** What runs now, the longest first; the bar is the time limit of its stage. */
export function RunningBuilds({ builds, now }: { builds: readonly Build[]; now: number }) {
  return (
    <section className="card" aria-label="Running builds" data-testid="running">
      <div className="card-head">
        <h2>
          Running <span className="count">{builds.length || ""}</span>
        </h2>
        <Link href="/builds">All builds</Link>
      </div>
      {!builds.length && <p className="hint">Nothing runs.</p>}
      {builds.length > 0 && (
        <div className="scroll-x">
          <table className="data running-table">
            <thead>
              <tr>
                <th scope="col">Stage</th>
                <th scope="col">Node</th>
                <th scope="col">Of</th>
                <th scope="col" className="num">For</th>
                <th scope="col">Of its time limit</th>
                <th scope="col">
                  <span className="sr-only">Attempt</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {builds.map((b) => (
                <Row key={b.id} build={b} now={now} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
