import type { CustomSeriesOption, TimelineOption } from "@/features/timing/chart";
import { type Corner, layers } from "@/features/timing/outline";
import type { Row } from "@/features/timing/rows";
import type { Theme } from "@/lib/chart/theme";

/** Pixels of a row, and of the air between two. */
export const ROW = 18;
const AIR = 3;

type Shape = ReturnType<NonNullable<CustomSeriesOption["renderItem"]>>;
interface Area {
  x: number;
  y: number;
  width: number;
}

const polygon = (corners: readonly Corner[], fill: string, { x, y, width }: Area, row: number, buckets: number) => ({
  type: "polygon" as const,
  silent: true,
  shape: {
    points: corners.map(([bucket, share]) => [
      x + (bucket / buckets) * width,
      y + (row + 1) * ROW - share * (ROW - AIR),
    ]),
  },
  style: { fill },
});

/** One drawing a row; 450 polygons for 150 tasks, whatever their number of buckets. */
export function timelineOption(rows: readonly Row[], buckets: number, theme: Theme): TimelineOption {
  const drawn = rows.map((row) => (row.kind === "task" ? layers(row.timeline) : null));
  const renderItem: CustomSeriesOption["renderItem"] = (params): Shape => {
    const row = params.dataIndex;
    const layer = drawn[row];
    const area = params.coordSys as unknown as Area;
    const parts: [readonly Corner[], string][] = layer
      ? [
          [layer.blocked, theme.blocked],
          [layer.waiting, theme.waiting],
          [layer.busy, theme.accent],
        ]
      : [];
    const children = parts.filter(([c]) => c.length > 0).map(([c, fill]) => polygon(c, fill, area, row, buckets));
    return { type: "group", children } as Shape;
  };
  return {
    animation: false,
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: { type: "value", min: 0, max: buckets, show: false },
    yAxis: { type: "value", min: 0, max: Math.max(1, rows.length), show: false },
    series: [{ type: "custom", id: "tasks", silent: true, clip: true, renderItem, data: rows.map((_, i) => [0, i]) }],
  };
}
