import { type TaskShare, taskShares } from "@/features/timing/shares";
import type { Simulation, TaskTimeline } from "@/features/timing/simulation";
import { number, percent } from "@/lib/format";

/** The rows of the timeline: each kernel's tasks below a heading, where there are several kernels. */

export interface KernelRow {
  kind: "kernel";
  kernel: number;
  cycles: number;
}

export interface TaskRow {
  kind: "task";
  share: TaskShare;
  timeline: TaskTimeline;
}

export type Row = KernelRow | TaskRow;

const NOTHING: Omit<TaskTimeline, "name"> = { busy: [], empty: [], full: [] };

export function timelineRows(simulation: Simulation): Row[] {
  const timelines = new Map(simulation.timeline.tasks.map((t) => [t.name, t]));
  const headings = simulation.kernels.length > 1;
  let kernel = -1;
  return taskShares(simulation).flatMap((share): Row[] => {
    const row: Row = { kind: "task", share, timeline: timelines.get(share.name) ?? { name: share.name, ...NOTHING } };
    if (!headings || share.kernel === kernel) return [row];
    kernel = share.kernel;
    return [{ kind: "kernel", kernel, cycles: simulation.kernels[kernel]?.cycles ?? 0 }, row];
  });
}

/** Buckets of the timeline, at least 1. */
export const bucketCount = ({ timeline }: Simulation): number =>
  timeline.tasks.reduce((most, t) => Math.max(most, t.busy.length), 1);

/** Where the reader points. */
export interface Cursor {
  row: number;
  bucket: number;
}

/** The cursor after an arrow key, Home or End; null for a key that does not move it. */
export function moved(cursor: Cursor, key: string, rows: number, buckets: number): Cursor | null {
  const to = (row: number, bucket: number): Cursor => ({
    row: Math.min(rows - 1, Math.max(0, row)),
    bucket: Math.min(buckets - 1, Math.max(0, bucket)),
  });
  switch (key) {
    case "ArrowUp":
      return to(cursor.row - 1, cursor.bucket);
    case "ArrowDown":
      return to(cursor.row + 1, cursor.bucket);
    case "ArrowLeft":
      return to(cursor.row, cursor.bucket - 1);
    case "ArrowRight":
      return to(cursor.row, cursor.bucket + 1);
    case "Home":
      return to(cursor.row, 0);
    case "End":
      return to(cursor.row, buckets - 1);
    default:
      return null;
  }
}

export interface Reading {
  title: string;
  /** The cycles that the bucket covers, empty for a heading. */
  span: string;
  shares: [name: string, value: string][];
}

/** What the timeline shows at the cursor. */
export function reading(row: Row, bucket: number, bucketCycles: number, cycles: number): Reading {
  if (row.kind === "kernel") {
    return { title: `Kernel ${row.kernel}`, span: "", shares: [["takes", `${number(row.cycles)} cycles`]] };
  }
  const { busy, empty, full } = row.timeline;
  const values = [busy, empty, full].map((shares) => shares[bucket] ?? 0) as [number, number, number];
  const idle = Math.max(0, 1 - values[0] - values[1] - values[2]);
  const end = Math.min(cycles, (bucket + 1) * bucketCycles);
  return {
    title: row.share.name,
    span: `cycles ${number(Math.round(bucket * bucketCycles))} to ${number(Math.round(end))}`,
    shares: [
      ["busy", percent(values[0])],
      ["waiting for input", percent(values[1])],
      ["blocked by a full FIFO", percent(values[2])],
      ["idle", percent(idle < 1e-9 ? 0 : idle)],
    ],
  };
}
