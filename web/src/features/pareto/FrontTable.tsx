import type { Snapshot } from "@/features/pareto/cloud";
import { type Shown, isSimulated } from "@/features/pareto/fidelity";
import { OtherLatency } from "@/features/pareto/OtherLatency";
import { knee } from "@/features/pareto/shape";
import { CsimBadge, FidelityBadge, Tag } from "@/components/badges";
import { number, times, withUnit } from "@/lib/format";

interface Props {
  snapshot: Snapshot;
  loading: boolean;
  selected: string | null;
  shown: Shown;
  onSelect(id: string): void;
}

/** The front as a table: the same designs as in the plot, for the keyboard and for reading numbers off. */
export function FrontTable({ snapshot: { front }, loading, selected, shown, onSelect }: Props) {
  const kneeIndex = knee(front);
  const both = front.some((p) => isSimulated(p) || p.simulation !== null);
  const fastest = front[0]?.latency ?? 1;
  const lowest = front.at(-1)?.energy ?? 1;
  return (
    <section className="card" aria-label="Pareto front">
      <header className="card-head">
        <h2>
          Pareto front <span className="count">{front.length || ""}</span>
        </h2>
        <span className="fidelities">
          Latency <FidelityBadge fidelity={shown} /> Energy <FidelityBadge fidelity="estimate" />
        </span>
      </header>
      {loading && <div className="skeleton rows" />}
      {!loading && !front.length && <p className="hint">No feasible design yet.</p>}
      {front.length > 0 && (
        <div className="scroll-x">
          <table className="data front-table">
            <thead>
              <tr>
                <th scope="col">Design</th>
                <th scope="col" className="num">Latency</th>
                <th scope="col" className="num" title="Latency over that of the fastest design">of fastest</th>
                {both && (
                  <>
                    <th scope="col" className="num">{shown === "estimate" ? "Simulated" : "Estimated"}</th>
                    <th scope="col" className="num" title="Of the estimated latency: (estimate − simulated) / simulated">
                      Error
                    </th>
                  </>
                )}
                <th scope="col" className="num">Energy</th>
                <th scope="col" className="num" title="Energy over the lowest of any design">of lowest</th>
                <th scope="col">C simulation</th>
              </tr>
            </thead>
            <tbody>
              {front.map((p, i) => (
                <tr
                  key={p.id}
                  data-design={p.id}
                  className={p.id === selected ? "row-link selected" : "row-link"}
                  onClick={() => onSelect(p.id)}
                >
                  <td>
                    <button type="button" className="link" aria-pressed={p.id === selected}>
                      Design {number(p.number)}
                    </button>
                    {i === kneeIndex && <Tag tone="knee">knee</Tag>}
                  </td>
                  <td className="num">{withUnit(p.latency, "us")}</td>
                  <td className="num faint">{times(p.latency / fastest)}</td>
                  {both && <OtherLatency point={p} shown={shown} />}
                  <td className="num">{withUnit(p.energy, "uJ")}</td>
                  <td className="num faint">{times(p.energy / lowest)}</td>
                  <td>
                    <CsimBadge state={p.csim} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
