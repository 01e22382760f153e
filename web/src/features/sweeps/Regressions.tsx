import { FidelityBadge, Tag } from "@/components/badges";
import type { Change, MetricChange, Regression } from "@/lib/api/sweeps";
import { number, signedPercent, withUnit } from "@/lib/format";
import { Link } from "@/lib/router";

const value = (v: number | null, unit: string | null): string => (v === null ? "–" : unit ? withUnit(v, unit) : number(v));

function Causes({ causes }: { causes: readonly Change[] }) {
  if (!causes.length) return <span className="faint">nothing that is known of changed</span>;
  return (
    <ul className="causes">
      {causes.map((c) => (
        <li key={c.what} title={c.stages.length ? `has a part in ${c.stages.join(", ")}` : undefined}>
          <span className="strong">{c.what}</span> <code>{c.before}</code> → <code>{c.after}</code>
        </li>
      ))}
    </ul>
  );
}

function What({ regression: r }: { regression: Regression }) {
  if (r.metric === null) {
    return (
      <>
        <Tag tone="bad">{r.stage ? `${r.stage} fails` : r.kind === "design" ? "can not be built" : "failed"}</Tag>
        <p className="hint pre">{r.text}</p>
      </>
    );
  }
  return (
    <span title={r.text}>
      {r.metric} {r.fidelity && <FidelityBadge fidelity={r.fidelity} />}
    </span>
  );
}

function Row({ regression: r }: { regression: Regression }) {
  return (
    <tr>
      <td className="wrap">
        <What regression={r} />
        <small>{r.slot}</small>
      </td>
      <td>{r.design ? <Link href={`/designs/${r.design.id}`}>{number(r.design.number)}</Link> : ""}</td>
      <td className="num">{value(r.before, r.unit)}</td>
      <td className="num">{value(r.after, r.unit)}</td>
      <td className="num bad">{r.change === null ? "" : signedPercent(r.change)}</td>
      <td className="wrap">
        <Causes causes={r.causes} />
      </td>
    </tr>
  );
}

/** What got worse, the worst first, and what changed that can have caused it. */
export function Regressions({ regressions, count }: { regressions: readonly Regression[]; count: number }) {
  if (!regressions.length) return null;
  return (
    <section className="card" aria-label="Regressions" data-testid="regressions">
      <div className="card-head">
        <h2>
          Worse than before <span className="count">{number(count)}</span>
        </h2>
        {regressions.length < count && <span className="hint">the worst {number(regressions.length)} are shown</span>}
      </div>
      <div className="scroll-x">
        <table className="data regressions">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Design</th>
              <th scope="col" className="num">Before</th>
              <th scope="col" className="num">After</th>
              <th scope="col" className="num">Change</th>
              <th scope="col">Likely cause</th>
            </tr>
          </thead>
          <tbody>
            {regressions.map((r, i) => (
              <Row key={i} regression={r} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** What got better; closed, for nobody is called at night for it. */
export function Improvements({ changes, count }: { changes: readonly MetricChange[]; count: number }) {
  if (!changes.length) return null;
  return (
    <details className="card panel">
      <summary>{count === 1 ? "1 value is better than before" : `${number(count)} values are better than before`}</summary>
      <div className="scroll-x">
        <table className="data compact">
          <tbody>
            {changes.map((c, i) => (
              <tr key={i}>
                <td>
                  {c.metric} <FidelityBadge fidelity={c.fidelity} />
                </td>
                <td>
                  <Link href={`/designs/${c.design.id}`}>design {number(c.design.number)}</Link>
                </td>
                <td className="num">{value(c.before, c.unit)}</td>
                <td className="num">{value(c.after, c.unit)}</td>
                <td className="num good">{c.change === null ? "" : signedPercent(c.change)}</td>
                <td>{c.slot}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
