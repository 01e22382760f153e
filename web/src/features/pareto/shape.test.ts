import { expect, test } from "vitest";
import type { Point } from "@/features/pareto/cloud";
import { axisRange, frontLine, thin } from "@/features/pareto/shape";

const point = (number: number, latency: number, energy: number): Point => ({
  id: `d${number}`,
  number,
  objectives: [latency, energy],
  feasible: true,
  csim: null,
  estimate: latency,
  simulated: null,
  simulation: null,
});

test("thinning keeps about as many as asked for, and none that it dropped before", () => {
  const points = Array.from({ length: 20_000 }, (_, i) => point(i, i + 1, 1));
  const some = thin(points, 5000);
  expect(Math.abs(some.length - 5000)).toBeLessThan(50);
  const fewer = new Set(thin([...points, point(20_000, 1, 1)], 5000).map((p) => p.id));
  expect([...fewer].filter((id) => id !== "d20000").every((id) => some.some((p) => p.id === id))).toBe(true);
  expect(thin(points.slice(0, 100), 5000)).toHaveLength(100);
});

test("the line comes from the top of the plot and leaves at its right edge", () => {
  const line = frontLine([[2, 8], [4, 3]], [1, 10], [1, 20]);
  expect(line).toEqual([
    [2, 20],
    [2, 8],
    [4, 3],
    [10, 3],
  ]);
  expect(frontLine([], [1, 10], [1, 10])).toEqual([]);
});

test("axes leave air in shares of the extent", () => {
  expect(axisRange([10, 1000], true, [0.5, 0.5])).toEqual([1, 10_000]);
  expect(axisRange([10, 20], false, [0.1, 0.2])).toEqual([9, 22]);
  expect(axisRange([5], true, [0, 0])).toEqual([5, 5]);
  expect(axisRange([], true, [0, 0])).toEqual([1, 10]);
});
