import type { Point } from "@/features/pareto/cloud";
import type { Range } from "@/lib/chart/ticks";

/** The geometry of the plot: which points are drawn, where the axes end. */

/** In [0, 1), spread evenly and the same for a number every time. */
function scatterHash(number: number): number {
  return (Math.imul(number + 1, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/**
 * About `limit` of the points, all of them when there are fewer. A point that is left out stays out while the cloud
 * grows, so nothing flickers.
 */
export function thin(points: readonly Point[], limit: number): readonly Point[] {
  if (points.length <= limit) return points;
  const share = limit / points.length;
  return points.filter((p) => scatterHash(p.number) < share);
}

/** The least and the most of some values: `Math.min(...values)` has too many arguments from 100,000 on. */
export function ends(values: readonly number[]): Range {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** What 0 counts as on a logarithmic axis, as `dse.logarithms`: a factor e below the least that is more. */
export const zeroMark = (values: readonly number[]): number => {
  const some = values.filter((value) => value > 0);
  return (some.length ? some.reduce((a, b) => Math.min(a, b)) : 1) / Math.E;
};

/** The boundary of what these corners dominate, from the top of the plot to its right edge. */
export function frontLine(corners: readonly [number, number][], x: Range, y: Range): [number, number][] {
  const first = corners[0];
  const last = corners.at(-1);
  if (!first || !last) return [];
  return [[first[0], Math.max(y[1], first[1])], ...corners, [Math.max(x[1], last[0]), last[1]]];
}

/** Ends of an axis that shows `values` with air below and above them, in shares of their extent. */
export function axisRange(values: readonly number[], log: boolean, [below, above]: Range): Range {
  if (!values.length) return [1, 10];
  const [low, high] = ends(values);
  if (log) {
    const extent = Math.max(high / low, 1.5);
    return [low / extent ** below, high * extent ** above];
  }
  const extent = Math.max(high - low, high * 0.2);
  return [Math.max(0, low - extent * below), high + extent * above];
}
