import type { Knobs, TaskOverride } from "@/lib/api/types";
import { number, withUnit } from "@/lib/format";

type Row = [label: string, value: string, meaning: string];

const WORDS: Record<string, string> = {
  conservative: "one pace for all tasks",
  normal: "each task at its own pace",
  whole: "whole tensors",
  fabric: "LUTs",
  dsp: "DSP, one product each",
  dsp_packed: "DSP, two products each",
  greedy: "greedy, as in the paper",
  traffic: "least HBM traffic",
  slowest: "the slowest, as in the paper",
  worth: "where they are worth most",
  streamed: "from memory, in each launch",
  resident: "on the chip, as far as they fit",
  exact: "cheapest that keep pace",
  paper: "as in the paper",
  stp: "stops with its input (stp)",
  flp: "drains without input (flp)",
  frp: "free-running (frp)",
};

const word = (value: string) => WORDS[value] ?? value;
const prefetch = (kib: number) => (kib ? withUnit(kib * 1024, "bytes") : "none");

/** Designs of an earlier release lack the newer knobs. */
const unlessOld = <T,>(value: T | undefined, text: (value: T) => string) => (value === undefined ? "–" : text(value));

const FIFO_MEANING =
  "Rule of the search: a schedule in which all tasks work at one pace, or each at its own, or room for whole tensors; a compiled design has the depths that the simulator vouches for, except those for whole tensors";

const pipelineRow = (style: string): Row => [
  "Pipelines",
  word(style),
  "What a pipeline does while it waits for input: stop, finish what it holds, or run on",
];

const levels = (k: Knobs): [string, Row[]][] => [
  [
    "Tiling",
    [
      ["Default tile size", number(k.default_tile_size), "Elements of a loop group in one tile"],
      ["Overall unroll", `${number(k.overall_unroll)} lanes`, "Parallel lanes, shared out over all tasks"],
      ["Lanes go to", unlessOld(k.unrolling, word), "Which operation gets the next lanes"],
      ["Loop order", k.order, "Where the reduction loops of a tile stand"],
      ["Padding", unlessOld(k.max_padding, (p) => `${p} % at most`), "Points of a dimension that may be padding"],
    ],
  ],
  [
    "Fusion",
    [
      ["Fusion budget", withUnit(k.fusion_budget, "bytes"), "On-chip converter memory that a kernel may hold"],
      ["Plan", unlessOld(k.fusion_plan, word), "How the network is cut into kernels"],
    ],
  ],
  [
    "Resources",
    [
      ["FIFO depths", word(k.fifo), FIFO_MEANING],
      ["HBM channels", number(k.hbm_channels), "Ports that one weight tensor is spread over, at most"],
      ["Stream width", `${number(k.stream_width)} bit`, "Width of one token, at most"],
      ["Multiplier", word(k.multiplier), "What integer products are made of"],
      ["Engines", unlessOld(k.engines, word), "Whether matrix products have lanes of their own or take turns"],
      ["Slices", unlessOld(k.slices, number), "Equal tasks that the lanes of an engine are dealt out to, at most"],
      ["Rows", unlessOld(k.rows, number), "Rows of a prompt that engines compute side by side, at most"],
      ["Loads", unlessOld(k.loads, word), "Whether the weights of an engine come through ports of their own or one after the other through the same"],
      ["Weights", unlessOld(k.weights, word), "Where weights are that no launch changes"],
      ["Converters", unlessOld(k.converters, word), "Which buffer each layout converter gets"],
      ...(k.pipeline_style === undefined ? [] : [pipelineRow(k.pipeline_style)]),
      ["Prefetch", unlessOld(k.prefetch_kib, prefetch), "On-chip memory for weights that load before their task starts"],
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
            <th scope="col">Weights</th>
            <th scope="col">Kernel</th>
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
              <td>{orDefault(o.weights)}</td>
              <td>{orDefault(o.kernel)}</td>
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
