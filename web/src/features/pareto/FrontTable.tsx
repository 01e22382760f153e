import type { Snapshot } from "@/features/pareto/cloud";
import { knee } from "@/features/pareto/shape";
import { CsimBadge, FidelityBadge, Tag } from "@/components/badges";
import { number, withUnit } from "@/lib/format";

interface Props {
  snapshot: Snapshot;
  loading: boolean;
  selected: string | null;
  onSelect(id: string): void;
}

/** The front as a table: the same designs as in the plot, for the keyboard and for reading numbers off. */
export function FrontTable({ snapshot: { front }, loading, selected, onSelect }: Props) {
  const kneeIndex = knee(front);
  return (
    <section className="card" aria-label="Pareto front">
      <header className="card-head">
        <h2>
          Pareto front <span className="count">{front.length || ""}</span>
        </h2>
        <FidelityBadge fidelity="estimate" />
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
                <th scope="col" className="num">Energy</th>
                <th scope="col" className="num" title="Energy divided by latency">Mean power</th>
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
                  <td className="num">{withUnit(p.energy, "uJ")}</td>
                  <td className="num">{withUnit(p.energy / p.latency, "W")}</td>
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
