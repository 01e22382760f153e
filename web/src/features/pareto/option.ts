import type { ChartOption, ScatterSeriesOption } from "@/features/pareto/chart";
import type { Point, Snapshot } from "@/features/pareto/cloud";
import { axisRange, frontLine, knee, type Range, thin, ticks } from "@/features/pareto/shape";
import type { Theme } from "@/features/pareto/theme";
import type { CsimState } from "@/lib/api/types";
import { number, quantity, withUnit } from "@/lib/format";

const CLOUD_LIMIT = 5000;
const MANY = 1500;
const FRONT_SIZE = 10;
// All designs lie above and to the right of the front, so that is where its surroundings are shown.
const AIR_AROUND_FRONT: Range = [0.25, 0.8];
const AIR_AROUND_ALL: Range = [0.06, 0.06];

export interface View {
  log: boolean;
  infeasible: boolean;
  /** The axes show the front and what is near it, not the whole cloud. */
  frontOnly: boolean;
  selected: string | null;
}

interface Datum {
  id: string;
  value: [number, number];
}

const RING: Record<CsimState, { label: string; color: keyof Theme; type: "solid" | "dashed" | "dotted" }> = {
  passed: { label: "C simulation passed", color: "good", type: "solid" },
  failed: { label: "C simulation failed", color: "bad", type: "dashed" },
  running: { label: "C simulation running", color: "busy", type: "dotted" },
};

function tooltip(point: Point, isFront: boolean, isKnee: boolean): string {
  const notes = [
    isFront ? "on the front" : point.feasible ? "feasible" : "infeasible: exceeds a budget of the board",
    ...(isKnee ? ["knee"] : []),
    ...(point.csim ? [RING[point.csim].label] : []),
  ];
  const row = (name: string, value: string) => `<tr><th>${name}</th><td>${value}</td></tr>`;
  return `<div class="tip"><strong>Design ${number(point.number)}</strong>
    <table>${row("Latency", withUnit(point.latency, "us"))}${row("Energy", withUnit(point.energy, "uJ"))}</table><span>${notes.join(" · ")}</span></div>`;
}

function axis(name: string, unit: string, range: Range, log: boolean, count: number, theme: Theme) {
  const values = ticks(range, log, count);
  const text = { color: theme.muted, fontFamily: theme.font };
  return {
    type: log ? ("log" as const) : ("value" as const),
    name: `${name} (${quantity(1, unit).unit})`,
    nameTextStyle: { ...text, fontSize: 12, fontWeight: 500 as const },
    min: range[0],
    max: range[1],
    axisLine: { show: true, onZero: false, lineStyle: { color: theme.line } },
    axisTick: { customValues: values, lineStyle: { color: theme.line } },
    axisLabel: { ...text, fontSize: 12, customValues: values, formatter: number, hideOverlap: true },
    splitLine: { lineStyle: { color: theme.grid } },
    minorTick: { show: false },
    minorSplitLine: { show: false },
  };
}

/** The whole plot as an ECharts option; the order of the series is the order of drawing. */
export function paretoOption({ points, front }: Snapshot, view: View, theme: Theme): ChartOption {
  const shown = view.infeasible ? points : points.filter((p) => p.feasible);
  const zoomed = view.frontOnly && front.length > 1;
  const scope = zoomed ? front : shown;
  const air = zoomed ? AIR_AROUND_FRONT : AIR_AROUND_ALL;
  const x = axisRange(scope.map((p) => p.latency), view.log, air);
  const y = axisRange(scope.map((p) => p.energy), view.log, air);
  const byId = new Map(points.map((p) => [p.id, p]));
  const frontIds = new Set(front.map((p) => p.id));
  const kneeId = front[knee(front)]?.id;
  const rest = thin(shown.filter((p) => !frontIds.has(p.id)), CLOUD_LIMIT);

  const datum = (p: Point): Datum => ({ id: p.id, value: [p.latency, p.energy] });
  const scatter = (id: string, members: readonly Point[], style: Omit<ScatterSeriesOption, "type">) => ({
    type: "scatter" as const,
    id,
    data: members.map(datum),
    clip: true,
    cursor: "pointer",
    ...style,
  });
  const rings = (state: CsimState) =>
    scatter(`csim-${state}`, shown.filter((p) => p.csim === state), {
      silent: true,
      symbolSize: FRONT_SIZE + 8,
      z: 5,
      itemStyle: { color: "transparent", borderWidth: 2, borderColor: theme[RING[state].color], borderType: RING[state].type, opacity: 1 },
    });

  return {
    animation: false,
    textStyle: { fontFamily: theme.font },
    grid: { left: 16, right: 24, top: 20, bottom: 16, outerBoundsMode: "same", outerBoundsContain: "all" },
    tooltip: {
      trigger: "item",
      confine: true,
      transitionDuration: 0,
      backgroundColor: theme.surface,
      borderColor: theme.line,
      padding: 0,
      textStyle: { color: theme.ink, fontFamily: theme.font, fontSize: 13 },
      formatter: (item) => {
        const { id } = (item as unknown as { data: Datum }).data;
        const point = byId.get(id);
        return point ? tooltip(point, frontIds.has(id), id === kneeId) : "";
      },
    },
    xAxis: { ...axis("Latency", "us", x, view.log, 8, theme), nameLocation: "middle", nameGap: 30 },
    yAxis: { ...axis("Energy", "uJ", y, view.log, 6, theme), nameLocation: "middle", nameGap: 52 },
    series: [
      scatter("infeasible", rest.filter((p) => !p.feasible), {
        symbolSize: 5,
        z: 2,
        itemStyle: { color: "transparent", borderColor: theme.infeasible, borderWidth: 1 },
      }),
      scatter("feasible", rest.filter((p) => p.feasible), { symbolSize: rest.length > MANY ? 4 : 6, z: 3, itemStyle: { color: theme.cloud } }),
      {
        type: "line",
        id: "front-line",
        data: frontLine(front, x, y),
        step: "end",
        symbol: "none",
        silent: true,
        z: 4,
        tooltip: { show: false },
        lineStyle: { color: theme.accent, width: 1.75 },
        areaStyle: { color: theme.tint, origin: "end", opacity: 1 },
      },
      rings("running"),
      rings("passed"),
      rings("failed"),
      scatter("front", front.filter((p) => p.id !== kneeId), {
        symbolSize: FRONT_SIZE,
        z: 6,
        itemStyle: { color: theme.accent, borderColor: theme.surface, borderWidth: 1.5, opacity: 1 },
        emphasis: { scale: 1.4 },
      }),
      scatter("knee", front.filter((p) => p.id === kneeId), {
        symbol: "diamond",
        symbolSize: FRONT_SIZE + 4,
        z: 7,
        itemStyle: { color: theme.knee, borderColor: theme.surface, borderWidth: 1.5, opacity: 1 },
        emphasis: { scale: 1.3 },
      }),
      scatter("selected", points.filter((p) => p.id === view.selected), {
        silent: true,
        symbolSize: FRONT_SIZE + 16,
        z: 8,
        itemStyle: { color: "transparent", borderColor: theme.ink, borderWidth: 2 },
      }),
    ],
  };
}
