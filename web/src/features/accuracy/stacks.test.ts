import { expect, test } from "vitest";
import { errorsOf } from "@/features/accuracy/errors";
import { placeOf, stacks } from "@/features/accuracy/stacks";

const errors = (...estimates: number[]) =>
  errorsOf(estimates.map((estimate, number) => ({ id: `d${number}`, number, estimate, simulated: 100 })));

test("designs with about the same error stand on each other", () => {
  const plot = stacks(errors(101, 101, 101.01, 140));
  expect(plot.dots.map((d) => d.level)).toEqual([0, 1, 2, 0]);
  expect(plot.tallest).toBe(3);
  expect(new Set(plot.dots.map((d) => d.x)).size).toBe(2);
});

test("small errors look small: the axis shows five per cent to both sides", () => {
  const plot = stacks(errors(100.1, 99.9));
  expect(plot.low).toBeLessThan(-0.05);
  expect(plot.high).toBeGreaterThan(0.05);
  expect(placeOf(0, plot)).toBeCloseTo(0.5);
  expect(placeOf(-9, plot)).toBe(0);
});

test("dots stay inside the plot", () => {
  const places = stacks(errors(60, 100, 150)).dots.map((d) => d.x);
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(Math.max(...places)).toBeLessThan(1);
});
