import { useMemo, useRef } from "react";
import "@/features/sweeps/chart";
import { historyOf, historyOption } from "@/features/sweeps/historyOption";
import type { SweepRunSummary } from "@/lib/api/sweeps";
import { useTheme } from "@/lib/chart/theme";
import { useChart } from "@/lib/chart/useChart";
import { navigate } from "@/lib/router";

/** The hypervolume over the runs. For the eye and the pointer; the table below it holds the same. */
export function HistoryChart({ runs }: { runs: readonly SweepRunSummary[] }) {
  const theme = useTheme();
  const points = useMemo(() => historyOf(runs), [runs]);
  const latest = useRef(points);
  latest.current = points;
  const option = useMemo(() => historyOption(points, theme), [points, theme]);
  const element = useChart(option, (chart) => {
    chart.on("click", (event) => {
      const point = latest.current[event.dataIndex];
      if (point) navigate(`/sweep-runs/${point.run.id}`);
    });
  });
  return (
    <div
      ref={element}
      className="history-chart"
      role="img"
      aria-label={`Hypervolume of ${points.length} runs, 1 at the first. The table of runs holds the same.`}
      data-testid="history"
    />
  );
}
