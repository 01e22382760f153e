import type { ChartOption, ScatterSeriesOption } from "@/features/pareto/chart";
import type { Point, Snapshot } from "@/features/pareto/cloud";
import type { Alike } from "@/features/pareto/groups";
import { type Shown, counterpart, errorOf, isSimulated, withLatency } from "@/features/pareto/fidelity";
import { axisRange, ends, frontLine, thin, zeroMark } from "@/features/pareto/shape";
import type { CsimState, Objective } from "@/lib/api/types";
import type { Theme } from "@/lib/chart/theme";
import { type Range, ticks } from "@/lib/chart/ticks";
import { tooltipFrame } from "@/lib/chart/tooltip";
import { number, quantity, signedPercent, withUnit } from "@/lib/format";
import { type Axes, border } from "@/lib/front";
import { latencyAt, title } from "@/lib/objectives";

const CLOUD_LIMIT = 5000;
const MANY = 1500;
const FRONT_SIZE = 10;
const ALIKE_SIZE = 6;
/** Sizes of designs of the front with the least and the most of an objective that no axis shows. */
const SIZES: Range = [7, 20];
// All designs lie above and to the right of the front, so that is where its surroundings are shown.
const AIR_AROUND_FRONT: Range = [0.25, 0.8];
const AIR_AROUND_ALL: Range = [0.06, 0.06];

export interface View {
  log: boolean;
  infeasible: boolean;
  /** The axes show the front and what is near it, not the whole cloud. */
  frontOnly: boolean;
  selected: string | null;
  shown: Shown;
  objectives: readonly Objective[];
  axes: Axes;
  /** The front, with what the estimate can not tell apart as one. */
  groups: readonly Alike[];
  /** Id of the design that the service calls so. */
  knee: string | undefined;
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

const row = (name: string, value: string) => `<tr><th>${name}</th><td>${value}</td></tr>`;

function simulated(point: Point): string {
  const error = errorOf(point);
  if (error === null) return "";
  return row("Latency, simulate", withUnit(point.simulated, "us")) + row("Error of the estimate", signedPercent(error));
}

function tooltip(point: Point, objectives: readonly Objective[], isFront: boolean, isKnee: boolean, group: Alike | undefined): string {
  const rows = objectives.map(({ name, unit }, i) =>
    name === "latency"
      ? row("Latency, estimate", withUnit(point.estimate, unit)) + simulated(point)
      : row(`${title(name)}, estimate`, withUnit(point.objectives[i], unit)),
  );
  const notes = [
    isFront ? "on the front" : point.feasible ? "feasible" : "infeasible: exceeds a budget of the board",
    ...(isKnee ? ["knee"] : []),
    ...(group?.others.includes(point) ? [`can not be told from design ${number(group.point.number)}`] : []),
    ...(group?.point === point && group.others.length ? [`stands for ${group.others.length} more`] : []),
    ...(point.simulation === "refuted" ? ["refuted by its simulation"] : []),
    ...(point.csim ? [RING[point.csim].label] : []),
  ];
  return `<div class="tip"><strong>Design ${number(point.number)}</strong>
    <table>${rows.join("")}</table><span>${notes.join(" · ")}</span></div>`;
}

/** Where designs are drawn. What is none of something stands at the beginning of a logarithmic axis. */
class Places {
  private readonly marks: readonly number[];

  constructor(points: readonly Point[], private readonly view: View) {
    this.marks = view.axes.map((axis) => (view.log ? zeroMark(points.map((p) => p.objectives[axis] ?? 0)) : 0));
  }

  of(objectives: readonly number[]): [number, number] {
    const [x, y] = this.view.axes.map((axis, i) => objectives[axis] || (this.marks[i] ?? 0));
    return [x ?? 0, y ?? 0];
  }

  /** Of the same design with its other latency. */
  counterpart(p: Point): [number, number] {
    return this.of(withLatency(p.objectives, latencyAt(this.view.objectives), counterpart(p, this.view.shown)));
  }
}

/** Each design at both of its latencies, a gap after it: thin lines that join what is the same. */
function links(points: readonly Point[], places: Places): [number | null, number | null][] {
  return points.filter(isSimulated).flatMap((p): [number | null, number | null][] => [
    places.of(p.objectives),
    places.counterpart(p),
    [null, null],
  ]);
}

/** How large each design of a front is drawn: by what of it no axis shows. */
function sizes(front: readonly Point[], { objectives, axes }: View): Map<string, number> {
  const hidden = objectives.findIndex((_, i) => !axes.includes(i));
  const values = front.map((p) => p.objectives[hidden] ?? 1);
  const mark = zeroMark(values);
  const logs = values.map((value) => Math.log(value || mark));
  const [low, high] = ends(logs);
  const extent = high - low;
  const size = (value: number) => SIZES[0] + ((SIZES[1] - SIZES[0]) * (value - low)) / extent;
  return new Map(front.map((p, i) => [p.id, hidden < 0 || !extent ? FRONT_SIZE : size(logs[i] ?? low)]));
}

function axis(name: string, unit: string, fidelity: Shown, range: Range, log: boolean, count: number, theme: Theme) {
  const values = ticks(range, log, count);
  const text = { color: theme.muted, fontFamily: theme.font };
  return {
    type: log ? ("log" as const) : ("value" as const),
    name: `${name} (${quantity(1, unit).unit}), ${fidelity}`,
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

/** How many designs are drawn together, where it is more than one. */
const count = (group: Alike | undefined): string => (group?.others.length ? `×${group.others.length + 1}` : "");

/** The whole plot as an ECharts option; the order of the series is the order of drawing. */
export function paretoOption({ points, front }: Snapshot, view: View, theme: Theme): ChartOption {
  const shown = view.infeasible ? points : points.filter((p) => p.feasible);
  const zoomed = view.frontOnly && front.length > 1;
  const scope = zoomed ? front : shown;
  const air = zoomed ? AIR_AROUND_FRONT : AIR_AROUND_ALL;
  const places = new Places(scope, view);
  const x = axisRange(scope.map((p) => places.of(p.objectives)[0]), view.log, air);
  const y = axisRange(scope.map((p) => places.of(p.objectives)[1]), view.log, air);
  const size = sizes(front, view);
  const named = (which: 0 | 1, range: Range, count: number) => {
    const { name, unit } = view.objectives[view.axes[which]] ?? { name: "", unit: "" };
    return axis(title(name), unit, name === "latency" ? view.shown : "estimate", range, view.log, count, theme);
  };
  const other = view.shown === "estimate" ? theme.simulate : theme.estimate;
  const byId = new Map(points.map((p) => [p.id, p]));
  const frontIds = new Set(front.map((p) => p.id));
  const groupOf = new Map(view.groups.flatMap((group) => [group.point, ...group.others].map((p) => [p.id, group])));
  const stands = view.groups.filter(({ point }) => point.id !== view.knee);
  const rest = thin(shown.filter((p) => !frontIds.has(p.id)), CLOUD_LIMIT);

  const datum = (p: Point): Datum => ({ id: p.id, value: places.of(p.objectives) });
  const symbolSize = (more: number) => (_: unknown, { data }: { data: unknown }) => (size.get((data as Datum).id) ?? FRONT_SIZE) + more;
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
      ...tooltipFrame(theme),
      formatter: (item) => {
        const { id } = (item as unknown as { data: Datum }).data;
        const point = byId.get(id);
        return point ? tooltip(point, view.objectives, frontIds.has(id), id === view.knee, groupOf.get(id)) : "";
      },
    },
    xAxis: { ...named(0, x, 8), nameLocation: "middle", nameGap: 30 },
    yAxis: { ...named(1, y, 6), nameLocation: "middle", nameGap: 52 },
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
        data: frontLine(border(front, view.axes).map((p) => places.of(p.objectives)), x, y),
        step: "end",
        symbol: "none",
        silent: true,
        z: 4,
        tooltip: { show: false },
        lineStyle: { color: theme.accent, width: 1.75 },
        areaStyle: { color: theme.tint, origin: "end", opacity: 1 },
      },
      {
        type: "line",
        id: "links",
        data: links(shown, places),
        symbol: "none",
        silent: true,
        z: 4,
        tooltip: { show: false },
        lineStyle: { color: other, width: 1 },
      },
      scatter("counterparts", [], {
        data: shown.filter(isSimulated).map((p) => places.counterpart(p)),
        silent: true,
        symbolSize: 6,
        z: 5,
        itemStyle: { color: theme.surface, borderColor: other, borderWidth: 1.25, opacity: 1 },
      }),
      rings("running"),
      rings("passed"),
      rings("failed"),
      scatter("alike", view.groups.flatMap(({ others }) => others.filter((p) => p.id !== view.knee)), {
        symbolSize: ALIKE_SIZE,
        z: 6,
        itemStyle: { color: theme.accent, opacity: 0.55 },
        emphasis: { scale: 1.6 },
      }),
      scatter("front", stands.map(({ point }) => point), {
        symbolSize: symbolSize(0),
        z: 6,
        label: { show: true, position: "top", distance: 3, color: theme.muted, fontSize: 10, formatter: ({ data }) => count(groupOf.get((data as Datum).id)) },
        labelLayout: { hideOverlap: true },
        itemStyle: { color: theme.accent, borderColor: theme.surface, borderWidth: 1.5, opacity: 1 },
        emphasis: { scale: 1.4 },
      }),
      scatter("knee", front.filter((p) => p.id === view.knee), {
        symbol: "diamond",
        symbolSize: symbolSize(4),
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
