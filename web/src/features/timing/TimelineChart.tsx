import { useMemo } from "react";
import "@/features/timing/chart";
import type { Row } from "@/features/timing/rows";
import { ROW, timelineOption } from "@/features/timing/timelineOption";
import { useTheme } from "@/lib/chart/theme";
import { useChart } from "@/lib/chart/useChart";

/** The drawing alone: what it means is said by what lies over it. */
export function TimelineChart({ rows, buckets }: { rows: readonly Row[]; buckets: number }) {
  const theme = useTheme();
  const option = useMemo(() => timelineOption(rows, buckets, theme), [rows, buckets, theme]);
  const host = useChart(option);
  return <div ref={host} className="timeline-chart" style={{ height: rows.length * ROW }} aria-hidden="true" />;
}
