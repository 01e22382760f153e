import { Fragment, useState } from "react";
import type { Snapshot } from "@/features/pareto/cloud";
import type { Alike } from "@/features/pareto/groups";
import { type Shown, isSimulated } from "@/features/pareto/fidelity";
import { OtherLatency } from "@/features/pareto/OtherLatency";
import { ends } from "@/features/pareto/shape";
import { CsimBadge, FidelityBadge, Tag } from "@/components/badges";
import type { Objective } from "@/lib/api/types";
import { number, percent, times, withUnit } from "@/lib/format";
import { title } from "@/lib/objectives";

interface Props {
  snapshot: Snapshot;
  /** Its front. */
  groups: readonly Alike[];
  /** Id of the design that the service calls so. */
  knee: string | undefined;
  /** Up to which share objectives of designs count as equal. */
  error: number;
  objectives: readonly Objective[];
  loading: boolean;
  selected: string | null;
  shown: Shown;
  onSelect(id: string): void;
}

/**
 * The front as a table: the same designs as in the plot, for the keyboard and for reading numbers off. What the estimate
 * can not tell apart is one row, and the others below it when they are asked for.
 */
export function FrontTable({ snapshot: { front }, groups, knee, error, objectives, loading, selected, shown, onSelect }: Props) {
  const [opened, open] = useState<ReadonlySet<string>>(new Set());
  const rows = groups.flatMap(({ point, others, group }) => [
    { point, others: others.length, group, isOther: false },
    ...(opened.has(point.id) ? others.map((other) => ({ point: other, others: 0, group: null, isOther: true })) : []),
  ]);
  const toggle = (id: string) => open((now) => (now.has(id) ? new Set([...now].filter((other) => other !== id)) : new Set([...now, id])));
  const simulated = front.some((p) => isSimulated(p) || p.simulation !== null);
  const columns = objectives.map(({ name, unit }, place) => ({
    name,
    unit,
    place,
    least: ends(front.map((p) => p.objectives[place] ?? Infinity))[0],
    both: name === "latency" && simulated,
  }));
  return (
    <section className="card" aria-label="Pareto front">
      <header className="card-head">
        <h2>
          Pareto front <span className="count">{front.length || ""}</span>
        </h2>
        {groups.length < front.length && (
          <span className="hint inline">
            {groups.length} differ by more than the error of the estimate, {percent(error)}
          </span>
        )}
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
                <th scope="col" className="num" title="When to look at it: simulated ones first, the ends, the knee, then always the middle of the widest gap">
                  Rank
                </th>
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
              {rows.map(({ point: p, others, group, isOther }) => (
                <tr
                  key={p.id}
                  data-design={p.id}
                  className={["row-link", ...(p.id === selected ? ["selected"] : []), ...(isOther ? ["other"] : [])].join(" ")}
                  onClick={() => onSelect(p.id)}
                >
                  <td>
                    <button type="button" className="link" aria-pressed={p.id === selected}>
                      Design {number(p.number)}
                    </button>
                    {p.id === knee && <Tag tone="knee">knee</Tag>}
                    {others > 0 && (
                      <button
                        type="button"
                        className="link alike"
                        aria-expanded={opened.has(p.id)}
                        title="Designs of the front that the estimate can not tell from it"
                        onClick={(event) => {
                          event.stopPropagation();
                          toggle(p.id);
                        }}
                      >
                        {others} alike
                      </button>
                    )}
                  </td>
                  <td className="num faint">{group?.rank ?? ""}</td>
                  {columns.map(({ name, unit, place, least, both }) => (
                    <Fragment key={name}>
                      <td className="num">{withUnit(p.objectives[place], unit)}</td>
                      <td className="num faint">{least > 0 ? times((p.objectives[place] ?? 0) / least) : "–"}</td>
                      {both && <OtherLatency point={p} shown={shown} range={group?.latency_range ?? null} />}
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
