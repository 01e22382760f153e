import type { EChartsType } from "echarts/core";
import { useMemo, useRef } from "react";
import "@/features/pareto/chart";
import type { Snapshot } from "@/features/pareto/cloud";
import { paretoOption, type View } from "@/features/pareto/option";
import { useTheme } from "@/lib/chart/theme";
import { useChart } from "@/lib/chart/useChart";
import type { Axes } from "@/lib/front";
import { inWords } from "@/lib/objectives";

interface Props {
  snapshot: Snapshot;
  view: View;
  onSelect(id: string): void;
}

/** Where each point of the front is drawn, in pixels of the element; `data-front` lets a test click one. */
function frontPixels(chart: EChartsType, { front }: Snapshot, [across, up]: Axes): string {
  const pixels = front.map((p) => {
    const place = [p.objectives[across] ?? 0, p.objectives[up] ?? 0];
    const [x, y] = chart.convertToPixel({ seriesId: "front" }, place) as unknown as [number, number];
    return { id: p.id, x: Math.round(x), y: Math.round(y) };
  });
  return JSON.stringify(pixels);
}

export function ParetoChart({ snapshot, view, onSelect }: Props) {
  const latest = useRef({ snapshot, view, onSelect });
  const theme = useTheme();
  latest.current = { snapshot, view, onSelect };
  const option = useMemo(() => paretoOption(snapshot, view, theme), [snapshot, view, theme]);
  const element = useChart(option, (chart, host) => {
    chart.on("click", (event) => latest.current.onSelect((event.data as { id: string }).id));
    chart.on("finished", () => {
      host.dataset["front"] = frontPixels(chart, latest.current.snapshot, latest.current.view.axes);
    });
  });

  const { points, front } = snapshot;
  const shown = inWords(view.axes.flatMap((axis) => view.objectives[axis] ?? []));
  const label = `Scatter plot of ${shown} of ${points.length} designs, ${front.length} of them on the Pareto front. The table of the front holds the same designs.`;
  return <div ref={element} className="chart" role="img" aria-label={label} data-testid="pareto-chart" />;
}
