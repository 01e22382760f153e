import { expect, test } from "vitest";
import { border, unbeaten } from "@/lib/front";
import { inWords, latencyAt, title } from "@/lib/objectives";

const objective = (name: string) => ({ name, unit: "", best: "" });
const point = (number: number, ...objectives: number[]) => ({ number, objectives });

test("objectives have names for people", () => {
  expect(["hbm_ports", "latency", "energy_with_idle"].map(title)).toEqual(["HBM ports", "Latency", "Energy with idle"]);
  expect(inWords(["latency", "lut", "area"].map(objective), "or")).toBe("latency, LUT or area");
  expect([["area", "latency"], ["area", "lut"]].map((names) => latencyAt(names.map(objective)))).toEqual([1, -1]);
});

test("of three objectives the front holds what no other beats in all", () => {
  const points = [point(0, 1, 9, 9), point(1, 1, 9, 8), point(2, 5, 5, 5), point(3, 5, 5, 5), point(4, 9, 9, 1), point(5, 6, 6, 6)];
  expect(unbeaten(points).map((p) => p.number)).toEqual([1, 2, 4]);
});

test("a line joins those that no other beats in the two that are shown", () => {
  const front = [point(0, 1, 9, 9), point(1, 5, 5, 5), point(2, 6, 6, 1), point(3, 9, 1, 9)];
  expect(border(front, [0, 1]).map((p) => p.number)).toEqual([0, 1, 3]);
  expect(border(front, [2, 1]).map((p) => p.number)).toEqual([2, 1, 3]);
});
