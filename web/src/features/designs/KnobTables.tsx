import type { Knobs, TaskOverride } from "@/lib/api/types";
import { number, withUnit } from "@/lib/format";

type Row = [label: string, value: string, meaning: string];

const levels = (k: Knobs): [string, Row[]][] => [
  [
    "Tiling",
    [
      ["Default tile size", number(k.default_tile_size), "Elements of a loop group in one tile"],
      ["Overall unroll", `${number(k.overall_unroll)} lanes`, "Parallel lanes, shared out over all tasks"],
      ["Loop order", k.order, "Where the reduction loops of a tile stand"],
    ],
  ],
  ["Fusion", [["Fusion budget", withUnit(k.fusion_budget, "bytes"), "On-chip converter memory that a kernel may hold"]]],
  [
    "Resources",
    [
      ["FIFO strategy", k.fifo, "How FIFO depths are chosen"],
      ["HBM channels", number(k.hbm_channels), "Ports that one weight tensor is spread over, at most"],
      ["Stream width", `${number(k.stream_width)} bit`, "Width of one token, at most"],
      ["Multiplier", k.multiplier, "What integer products are made of"],
    ],
  ],
];

const orDefault = (value: number | string | null | undefined) =>
  value === null || value === undefined ? <span className="faint">default</span> : value;

function Overrides({ overrides }: { overrides: readonly TaskOverride[] }) {
  return (
    <div className="group">
      <h3>Per-task overrides</h3>
      <table className="data compact">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col" className="num">Tile</th>
            <th scope="col" className="num">Unroll</th>
            <th scope="col">Loop order</th>
          </tr>
        </thead>
        <tbody>
          {overrides.map((o) => (
            <tr key={o.op}>
              <td>
                <code>{o.op}</code>
              </td>
              <td className="num">{orDefault(o.tile)}</td>
              <td className="num">{orDefault(o.unroll)}</td>
              <td>{orDefault(o.order?.join(", "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function KnobTables({ knobs }: { knobs: Knobs }) {
  return (
    <section className="block" aria-label="Knobs" data-testid="knobs">
      <h2>Knobs</h2>
      {levels(knobs).map(([title, rows]) => (
        <div className="group" key={title}>
          <h3>{title}</h3>
          <table className="pairs">
            <tbody>
              {rows.map(([name, value, meaning]) => (
                <tr key={name} title={meaning}>
                  <th scope="row">{name}</th>
                  <td className="num">{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ))}
      {knobs.overrides.length > 0 && <Overrides overrides={knobs.overrides} />}
    </section>
  );
}
