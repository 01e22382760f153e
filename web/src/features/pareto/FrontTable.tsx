import { Fragment } from "react";
import type { Snapshot } from "@/features/pareto/cloud";
import { type Shown, isSimulated } from "@/features/pareto/fidelity";
import { OtherLatency } from "@/features/pareto/OtherLatency";
import { knee } from "@/features/pareto/shape";
import { CsimBadge, FidelityBadge, Tag } from "@/components/badges";
import type { Objective } from "@/lib/api/types";
import { number, times, withUnit } from "@/lib/format";
import { title } from "@/lib/objectives";

interface Props {
  snapshot: Snapshot;
  objectives: readonly Objective[];
  loading: boolean;
  selected: string | null;
  shown: Shown;
  onSelect(id: string): void;
}

/** The front as a table: the same designs as in the plot, for the keyboard and for reading numbers off. */
export function FrontTable({ snapshot: { front }, objectives, loading, selected, shown, onSelect }: Props) {
  const kneeIndex = knee(front);
  const simulated = front.some((p) => isSimulated(p) || p.simulation !== null);
  const columns = objectives.map(({ name, unit }, place) => ({
    name,
    unit,
    place,
    least: Math.min(...front.map((p) => p.objectives[place] ?? Infinity)),
    both: name === "latency" && simulated,
  }));
  return (
    <section className="card" aria-label="Pareto front">
      <header className="card-head">
        <h2>
          Pareto front <span className="count">{front.length || ""}</span>
        </h2>
        <span className="fidelities">
          {columns.map(({ name }) => (
            <Fragment key={name}>
              {title(name)} <FidelityBadge fidelity={name === "latency" ? shown : "estimate"} />{" "}
            </Fragment>
          ))}
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
                {columns.map(({ name, both }) => (
                  <Fragment key={name}>
                    <th scope="col" className="num">{title(name)}</th>
                    <th scope="col" className="num" title={`${title(name)} over the lowest of any design`}>
                      {name === "latency" ? "of fastest" : "of lowest"}
                    </th>
                    {both && (
                      <>
                        <th scope="col" className="num">{shown === "estimate" ? "Simulated" : "Estimated"}</th>
                        <th scope="col" className="num" title="Of the estimated latency: (estimate − simulated) / simulated">
                          Error
                        </th>
                      </>
                    )}
                  </Fragment>
                ))}
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
                  {columns.map(({ name, unit, place, least, both }) => (
                    <Fragment key={name}>
                      <td className="num">{withUnit(p.objectives[place], unit)}</td>
                      <td className="num faint">{least > 0 ? times((p.objectives[place] ?? 0) / least) : "–"}</td>
                      {both && <OtherLatency point={p} shown={shown} />}
                    </Fragment>
                  ))}
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
