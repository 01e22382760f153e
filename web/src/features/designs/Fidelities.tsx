import { useState } from "react";
import { FidelityBadge } from "@/components/badges";
import { Toggle } from "@/components/Toggle";
import { type Cell, barOf, columnsOf, rowsOf } from "@/features/designs/fidelities";
import { label, shownUnit } from "@/features/designs/metrics";
import type { Design, Difference, Metric } from "@/lib/api/types";
import { errorInWords } from "@/lib/estimate";
import { quantity, signedPercent } from "@/lib/format";

const source = (m: Metric) => `${m.tool} ${m.tool_version}${m.build_id ? `, build ${m.build_id}` : ""}`;

/** By how much the weaker fidelity was off: a bar to the left is too low, to the right too high. */
function Off({ difference: d }: { difference: Difference }) {
  if (d.error === null) return null;
  const size = `${50 * barOf(d.error)}%`;
  return (
    <span className="off" title={`${d.predicted_by} was ${errorInWords(d.error)} against ${d.fidelity}`}>
      <small className="num">
        {d.predicted_by} {signedPercent(d.error)}
      </small>
      <span className="off-bar" aria-hidden="true">
        <i className={Math.abs(d.error) > 0.2 ? "far" : ""} style={d.error < 0 ? { right: "50%", width: size } : { left: "50%", width: size }} />
      </span>
    </span>
  );
}

function Value({ cell }: { cell: Cell | null }) {
  if (!cell) return <td className="num faint">·</td>;
  const q = quantity(cell.metric.value, cell.metric.unit);
  return (
    <td className="num" title={source(cell.metric)}>
      {q.text} <span className="unit">{shownUnit(q.unit)}</span>
      {cell.difference && <Off difference={cell.difference} />}
    </td>
  );
}

/** The same metric at every fidelity, side by side; below each value how far the fidelity before it was off. */
export function Fidelities({ design }: { design: Design }) {
  const [all, setAll] = useState(false);
  const columns = columnsOf(design.metrics);
  if (columns.length < 2) return null;
  const rows = rowsOf(design.metrics, design.differences, all);
  return (
    <section className="card fidelity-card" aria-label="Metrics by fidelity" data-testid="fidelities">
      <div className="card-head">
        <h2>Metrics by fidelity</h2>
        <div className="toggles" role="group" aria-label="Which metrics">
          <Toggle label="Compared" on={!all} onChange={() => setAll(false)} />
          <Toggle label="All" on={all} onChange={() => setAll(true)} />
        </div>
      </div>
      <div className="scroll-x">
        <table className="data fidelity-table">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              {columns.map((fidelity) => (
                <th scope="col" className="num" key={fidelity}>
                  <FidelityBadge fidelity={fidelity} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{label(row.name)}</th>
                {row.cells.map((cell, i) => (
                  <Value key={columns[i]} cell={cell} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
