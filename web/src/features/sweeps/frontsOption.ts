import type { SweepOption } from "@/features/sweeps/chart";
import type { FrontDesign, Overlay } from "@/features/sweeps/fronts";
import type { Fidelity, Objective } from "@/lib/api/types";
import type { Theme } from "@/lib/chart/theme";
import { ticks } from "@/lib/chart/ticks";
import { tooltipFrame } from "@/lib/chart/tooltip";
import { number, quantity, withUnit } from "@/lib/format";
import { type Axes, border } from "@/lib/front";
import { title } from "@/lib/objectives";

const AIR = 1.12;

interface Datum {
  value: [number, number];
  text: string;
}

/** What is drawn: the first two objectives. */
const AXES: Axes = [0, 1];

const place = (d: FrontDesign): [number, number] => [d.objectives[AXES[0]] ?? 0, d.objectives[AXES[1]] ?? 0];

const datum = (word: string, objectives: readonly Objective[]) => (d: FrontDesign): Datum => ({
  value: place(d),
  text: `<strong>Design ${number(d.number)}</strong>, ${word}<br><span>${objectives.map(({ unit }, i) => withUnit(d.objectives[i], unit)).join(", ")}</span>`,
});

const line = (front: readonly FrontDesign[]) => border(front, AXES).map(place);

/** From where points were to where they are, a gap after each. */
const moves = ({ moved }: Overlay): (number | null)[][] =>
  moved.flatMap((m) => [
    place(m.before),
    place(m.after),
    [null, null],
  ]);

const range = (values: readonly number[]): [number, number] => {
  const some = values.filter((value) => value > 0);
  return some.length ? [Math.min(...some) / AIR, Math.max(...some) * AIR] : [1, 10];
};

function axis(name: string, unit: string, values: number[], nameGap: number, theme: Theme) {
  const [min, max] = range(values);
  const marks = ticks([min, max], true, 7);
  return {
    type: "log" as const,
    name: `${name} (${quantity(1, unit).unit})`,
    nameLocation: "middle" as const,
    nameGap,
    nameTextStyle: { color: theme.muted, fontFamily: theme.font, fontSize: 12, fontWeight: 500 as const },
    min,
    max,
    axisLine: { show: true, onZero: false, lineStyle: { color: theme.line } },
    axisTick: { customValues: marks, lineStyle: { color: theme.line } },
    axisLabel: { color: theme.muted, fontSize: 12, customValues: marks, formatter: number, hideOverlap: true },
    splitLine: { lineStyle: { color: theme.grid } },
    minorTick: { show: false },
    minorSplitLine: { show: false },
  };
}

/** Two fronts on one pair of axes: the old one thin and dashed, the new one firm; what changed carries a mark. */
export function frontsOption(fronts: Overlay, objectives: readonly Objective[], fidelity: Fidelity, theme: Theme): SweepOption {
  const { before, after, fresh, lost, moved } = fronts;
  const changed = new Set([...fresh, ...moved].map((d) => d.id));
  const gone = new Set(lost.map((d) => d.id));
  const all = [...before, ...after, ...fresh, ...lost, ...moved.flatMap((m) => [m.before, m.after])];
  const named = (which: 0 | 1, gap: number) => {
    const { name, unit } = objectives[AXES[which]] ?? { name: "", unit: "" };
    return axis(`${title(name)}, ${name === "latency" ? fidelity : "estimate"}`, unit, all.map((d) => place(d)[which]), gap, theme);
  };
  const points = (id: string, data: Datum[], style: object) => ({ type: "scatter" as const, id, data, clip: true, z: 6, ...style });
  return {
    animation: false,
    textStyle: { fontFamily: theme.font },
    grid: { left: 20, right: 24, top: 16, bottom: 16, outerBoundsMode: "same", outerBoundsContain: "all" },
    tooltip: {
      trigger: "item",
      ...tooltipFrame(theme),
      formatter: (item) => `<div class="tip">${(item as unknown as { data: Partial<Datum> }).data.text ?? ""}</div>`,
    },
    xAxis: named(0, 30),
    yAxis: named(1, 56),
    series: [
      {
        type: "line",
        id: "before",
        data: line(before),
        step: "end",
        symbol: "none",
        silent: true,
        lineStyle: { color: theme.muted, width: 1.25, type: "dashed" },
      },
      {
        type: "line",
        id: "after",
        data: line(after),
        step: "end",
        symbol: "none",
        silent: true,
        lineStyle: { color: theme.accent, width: 1.75 },
      },
      { type: "line", id: "moves", data: moves(fronts), symbol: "none", silent: true, lineStyle: { color: theme.knee, width: 1.5 } },
      points("old", before.filter((d) => !gone.has(d.id)).map(datum("on the front before", objectives)), {
        symbolSize: 6,
        z: 4,
        itemStyle: { color: theme.surface, borderColor: theme.muted, borderWidth: 1.25, opacity: 1 },
      }),
      points("kept", after.filter((d) => !changed.has(d.id)).map(datum("on the front", objectives)), {
        symbolSize: 8,
        itemStyle: { color: theme.accent, borderColor: theme.surface, borderWidth: 1, opacity: 1 },
      }),
      points("moved", moved.map((m) => datum("moved", objectives)(m.after)), {
        symbol: "diamond",
        symbolSize: 13,
        itemStyle: { color: theme.knee, borderColor: theme.surface, borderWidth: 1, opacity: 1 },
      }),
      points("new", fresh.map(datum("new on the front", objectives)), {
        symbol: "triangle",
        symbolSize: 12,
        itemStyle: { color: theme.good, borderColor: theme.surface, borderWidth: 1, opacity: 1 },
      }),
      points("lost", lost.map(datum("no longer on the front", objectives)), {
        symbol: "path://M2,0 L5,3 L8,0 L10,2 L7,5 L10,8 L8,10 L5,7 L2,10 L0,8 L3,5 L0,2 Z",
        symbolSize: 11,
        itemStyle: { color: theme.bad, borderColor: theme.surface, borderWidth: 0.5, opacity: 1 },
      }),
    ],
  };
}
