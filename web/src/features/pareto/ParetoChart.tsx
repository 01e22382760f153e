import { useEffect, useRef } from "react";
import { type EChartsType, init } from "@/features/pareto/chart";
import type { Snapshot } from "@/features/pareto/cloud";
import { paretoOption, type View } from "@/features/pareto/option";
import { useTheme } from "@/features/pareto/theme";

interface Props {
  snapshot: Snapshot;
  view: View;
  onSelect(id: string): void;
}

/** Where each point of the front is drawn, in pixels of the element; `data-front` lets a test click one. */
function frontPixels(chart: EChartsType, { front }: Snapshot): string {
  const pixels = front.map((p) => {
    const [x, y] = chart.convertToPixel({ seriesId: "front" }, [p.latency, p.energy]) as unknown as [number, number];
    return { id: p.id, x: Math.round(x), y: Math.round(y) };
  });
  return JSON.stringify(pixels);
}

export function ParetoChart({ snapshot, view, onSelect }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  const latest = useRef({ snapshot, onSelect });
  const theme = useTheme();
  latest.current = { snapshot, onSelect };

  useEffect(() => {
    const host = element.current;
    if (!host) return;
    const made = init(host, null, { renderer: "canvas" });
    chart.current = made;
    const mark = () => {
      host.dataset["front"] = frontPixels(made, latest.current.snapshot);
    };
    made.on("click", (event) => latest.current.onSelect((event.data as { id: string }).id));
    made.on("finished", mark);
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(host);
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    // Merged by the series' ids, so that a tooltip stays open while points arrive.
    chart.current?.setOption(paretoOption(snapshot, view, theme));
  }, [snapshot, view, theme]);

  const { points, front } = snapshot;
  const label = `Scatter plot of latency and energy of ${points.length} designs, ${front.length} of them on the Pareto front. The table of the front holds the same designs.`;
  return <div ref={element} className="chart" role="img" aria-label={label} data-testid="pareto-chart" />;
}
