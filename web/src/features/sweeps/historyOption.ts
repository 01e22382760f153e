import type { SweepOption } from "@/features/sweeps/chart";
import type { RunState, SweepRunSummary } from "@/lib/api/sweeps";
import type { Theme } from "@/lib/chart/theme";
import { tooltipFrame } from "@/lib/chart/tooltip";
import { exactTime, parseTime, signedPercent } from "@/lib/format";

const COLOUR: Record<RunState, keyof Theme> = {
  running: "busy",
  same: "good",
  changed: "busy",
  regressed: "bad",
  failed: "bad",
  cancelled: "muted",
};

export interface HistoryPoint {
  run: SweepRunSummary;
  at: number;
  index: number;
}

/** The runs that have an index, oldest first. */
export function historyOf(runs: readonly SweepRunSummary[]): HistoryPoint[] {
  return runs
    .flatMap((run) => (run.index === null ? [] : [{ run, at: parseTime(run.created_at), index: run.index }]))
    .sort((a, b) => a.at - b.at);
}

/** A range around `values` that is at least 4 % high, so that small changes look small. */
export function rangeOf(values: readonly number[]): [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const air = Math.max(0.02, (most - least) * 0.15);
  return [least - air, most + air];
}

export function historyOption(points: readonly HistoryPoint[], theme: Theme): SweepOption {
  const [low, high] = rangeOf(points.map((p) => p.index));
  const axis = { axisLine: { lineStyle: { color: theme.line } }, axisLabel: { color: theme.muted }, axisTick: { show: false } };
  return {
    animation: false,
    textStyle: { fontFamily: theme.font },
    grid: { left: 56, right: 24, top: 16, bottom: 28 },
    tooltip: {
      trigger: "item",
      ...tooltipFrame(theme),
      formatter: (item) => {
        const point = points[(item as { dataIndex: number }).dataIndex];
        return point
          ? `<div class="tip"><strong>${point.run.state}</strong><br>${exactTime(point.run.created_at)}<br><span>hypervolume ${signedPercent(point.index - 1)} against the first run</span></div>`
          : "";
      },
    },
    xAxis: { type: "time", ...axis, splitLine: { show: false } },
    yAxis: {
      type: "value",
      min: low,
      max: high,
      ...axis,
      axisLabel: { color: theme.muted, formatter: (value: number) => value.toFixed(2) },
      splitNumber: 4,
      splitLine: { lineStyle: { color: theme.grid } },
      axisLine: { show: false },
    },
    series: [
      {
        type: "line",
        id: "index",
        data: points.map((p) => ({
          value: [p.at, p.index],
          symbol: p.run.state === "failed" ? "rect" : "circle",
          itemStyle: { color: theme[COLOUR[p.run.state]], borderColor: theme.surface, borderWidth: 1.5 },
        })),
        symbolSize: 11,
        lineStyle: { color: theme.line, width: 1.5 },
        cursor: "pointer",
      },
    ],
  };
}
