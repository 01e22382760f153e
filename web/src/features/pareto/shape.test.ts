import { expect, test } from "vitest";
import type { Point } from "@/features/pareto/cloud";
import { axisRange, frontLine, knee, thin } from "@/features/pareto/shape";

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

test("the knee is the point farthest below the chord, in log space", () => {
  expect(knee([point(0, 1, 1000), point(1, 2, 30), point(2, 100, 20), point(3, 1000, 10)])).toBe(1);
});

test("a front without a design below its chord has the least product as its knee", () => {
  expect(knee([])).toBe(-1);
  expect(knee([point(0, 1, 1)])).toBe(0);
  expect(knee([point(0, 1, 10), point(1, 10, 1)])).toBe(0);
  expect(knee([point(0, 1, 10), point(1, 9.9, 9.9), point(2, 10, 1)])).toBe(0);
  expect(knee([point(0, 100, 1600), point(1, 139.7, 995), point(2, 146.6, 762)])).toBe(2);
});

test("a knee is found where designs use none of something, and of three objectives", () => {
  expect(knee([point(0, 1, 40), point(1, 2, 3), point(2, 50, 1), point(3, 90, 0)])).toBe(1);
  const three = [[1, 100, 100], [4, 5, 6], [50, 50, 50], [100, 1, 100], [100, 100, 1]];
  expect(knee(three.map((objectives, number) => ({ ...point(number, 1, 1), objectives })))).toBe(1);
});

test("a front of 200,000 has a knee", () => {
  const count = 200_000;
  expect(knee(Array.from({ length: count }, (_, i) => point(i, 1 + i, count / (1 + i) / (i === 700 ? 2 : 1))))).toBe(700);
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
