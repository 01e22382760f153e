import type { TaskTimeline } from "@/features/timing/simulation";

/** From the left end of the timeline to its right, in buckets; from the foot of a row to its top, 0 to 1. */
export type Corner = readonly [x: number, y: number];

/** The outline of bars of these heights, side by side, down to the foot; equal neighbours are one bar. Empty: nothing. */
export function outline(heights: readonly number[]): Corner[] {
  if (!heights.some((h) => h > 0)) return [];
  const corners: Corner[] = [[0, 0]];
  heights.forEach((height, i) => {
    if (i > 0 && height === heights[i - 1]) return;
    corners.push([i, heights[i - 1] ?? 0], [i, height]);
  });
  corners.push([heights.length, heights.at(-1) ?? 0], [heights.length, 0]);
  return corners.slice(1);
}

const sums = (...parts: readonly (readonly number[])[]): number[] =>
  (parts[0] ?? []).map((_, i) => Math.min(1, parts.reduce((sum, part) => sum + (part[i] ?? 0), 0)));

export interface Layers {
  busy: Corner[];
  waiting: Corner[];
  blocked: Corner[];
}

/** Stacked from the foot: busy, waiting for input, blocked. Each reaches to the foot and is drawn over the next. */
export function layers({ busy, empty, full }: Omit<TaskTimeline, "name">): Layers {
  const any = (shares: readonly number[]) => shares.some((s) => s > 0);
  return {
    busy: outline(busy),
    waiting: any(empty) ? outline(sums(busy, empty)) : [],
    blocked: any(full) ? outline(sums(busy, empty, full)) : [],
  };
}
