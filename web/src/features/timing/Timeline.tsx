import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import { TimelineAxis } from "@/features/timing/TimelineAxis";
import { TimelineChart } from "@/features/timing/TimelineChart";
import { TimelineTip } from "@/features/timing/TimelineTip";
import { type Cursor, type Row, bucketCount, moved, reading, timelineRows } from "@/features/timing/rows";
import type { Simulation } from "@/features/timing/simulation";
import { ROW } from "@/features/timing/timelineOption";
import { number } from "@/lib/format";

const LABEL = "Timeline of the tasks. The arrow keys read it; the table of the tasks holds the same figures.";

function Name({ row }: { row: Row }) {
  if (row.kind === "task") return <li title={row.share.name}>{row.share.name}</li>;
  return (
    <li className="timeline-kernel">
      Kernel {row.kernel} <span className="faint num">{number(row.cycles)} cycles</span>
    </li>
  );
}

/** One row a task over the cycles of the run: what it does in each stretch of time. */
export function Timeline({ simulation }: { simulation: Simulation }) {
  const rows = useMemo(() => timelineRows(simulation), [simulation]);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const buckets = bucketCount(simulation);
  const { bucket_cycles } = simulation.timeline;
  const span = buckets * bucket_cycles;
  const row = cursor && rows[cursor.row];
  const read = row && reading(row, cursor.bucket, bucket_cycles, simulation.cycles);

  const point = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const bucket = Math.floor(((event.clientX - box.left) / box.width) * buckets);
    setCursor({ row: Math.floor((event.clientY - box.top) / ROW), bucket: Math.min(buckets - 1, Math.max(0, bucket)) });
  };
  const press = (event: KeyboardEvent) => {
    const next = moved(cursor ?? { row: 0, bucket: -1 }, event.key, rows.length, buckets);
    if (next) event.preventDefault();
    if (next || event.key === "Escape") setCursor(next);
  };

  return (
    <div className="timeline" data-testid="timeline">
      <i className="timeline-corner" />
      <TimelineAxis cycles={span} />
      <ol className="timeline-names" style={{ lineHeight: `${ROW}px` }}>
        {rows.map((r) => (
          <Name key={r.kind === "task" ? r.share.name : r.kernel} row={r} />
        ))}
      </ol>
      <div
        className="timeline-plot"
        role="application"
        tabIndex={0}
        aria-label={LABEL}
        onPointerMove={point}
        onPointerLeave={() => setCursor(null)}
        onBlur={() => setCursor(null)}
        onKeyDown={press}
      >
        <TimelineChart rows={rows} buckets={buckets} />
        {cursor && read && (
          <>
            <i className="timeline-row" style={{ top: cursor.row * ROW, height: ROW }} />
            <i className="timeline-time" style={{ left: `${(100 * (cursor.bucket + 0.5)) / buckets}%` }} />
            <TimelineTip reading={read} top={cursor.row * ROW} share={(cursor.bucket + 0.5) / buckets} />
          </>
        )}
      </div>
      <p className="sr-only" role="status">
        {read && `${read.title}, ${read.span}: ${read.shares.map(([name, value]) => `${name} ${value}`).join(", ")}`}
      </p>
    </div>
  );
}
