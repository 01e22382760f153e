import { useMemo, useState } from "react";
import { SortHead } from "@/features/timing/SortHead";
import {
  type FifoColumn,
  type FifoRow,
  type Order,
  type StreamSpec,
  FIRST_ORDER,
  fifoRows,
  nextOrder,
  sorted,
} from "@/features/timing/fifos";
import type { Simulation } from "@/features/timing/simulation";
import { number, percent } from "@/lib/format";

const SHOWN = 15;
const HEADS: [FifoColumn, label: string, title: string][] = [
  ["name", "FIFO", "Name, and the tasks at its ends"],
  ["width", "Width", "Bits of a token"],
  ["depth", "Depth", "Tokens that it holds"],
  ["peak", "Peak", "Most tokens in it at once"],
  ["used", "Used", "Peak over depth"],
  ["memory", "Memory", "What it is made of"],
  ["full", "Full", "Cycles in which a token was ready for it and found no room"],
  ["empty", "Empty", "Cycles in which its reader waited for a token"],
  ["reason", "Why not smaller", "What the simulator found at a smaller depth"],
];

function Row({ fifo: f }: { fifo: FifoRow }) {
  return (
    <tr>
      <td>
        <code>{f.name}</code>
        <small className="faint">
          {f.source} → {f.target}
        </small>
      </td>
      <td className="num">{f.width === null ? "–" : number(f.width)}</td>
      <td className="num">{number(f.depth)}</td>
      <td className="num">{number(f.peak)}</td>
      <td className="num">
        <span className="cell-bar" aria-hidden="true">
          <i style={{ width: `${Math.min(100, 100 * f.used)}%` }} />
        </span>
        <span className="cell-share">{percent(f.used)}</span>
      </td>
      <td>{f.memory ?? "–"}</td>
      <td className="num">{number(f.full)}</td>
      <td className="num">{number(f.empty)}</td>
      <td className="wrap reason">{f.reason || <span className="faint">not recorded</span>}</td>
    </tr>
  );
}

/** Every FIFO with its use, and why it is as deep as it is. */
export function FifoBlock({ simulation, streams }: { simulation: Simulation; streams: readonly StreamSpec[] }) {
  const [order, setOrder] = useState<Order>(FIRST_ORDER);
  const [all, setAll] = useState(false);
  const rows = useMemo(() => sorted(fifoRows(simulation.fifos, streams), order), [simulation, streams, order]);
  const onOrder = (column: FifoColumn) => setOrder((o) => nextOrder(o, column));
  return (
    <section className="block" aria-label="FIFOs" data-testid="fifos">
      <h2>
        FIFOs <span className="count">{number(rows.length)}</span>
      </h2>
      <div className="scroll-x">
        <table className="data compact fifo-table">
          <thead>
            <tr>
              {HEADS.map(([column, label, title]) => (
                <SortHead key={column} column={column} label={label} title={title} order={order} onOrder={onOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {(all ? rows : rows.slice(0, SHOWN)).map((f) => (
              <Row key={f.name} fifo={f} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > SHOWN && (
        <button type="button" className="button small more" onClick={() => setAll(!all)}>
          {all ? `Show the first ${SHOWN}` : `Show all ${number(rows.length)}`}
        </button>
      )}
    </section>
  );
}
