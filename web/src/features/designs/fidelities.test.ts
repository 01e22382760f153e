import { expect, test } from "vitest";
import { barOf, columnsOf, rowsOf } from "@/features/designs/fidelities";
import type { Difference, Fidelity, Metric } from "@/lib/api/types";

const metric = (name: string, fidelity: Fidelity, value: number): Metric => ({
  name,
  value,
  unit: "us",
  fidelity,
  tool: "millrace",
  tool_version: "1",
  build_id: null,
});
const METRICS = [metric("latency", "cosim", 120), metric("latency", "estimate", 100), metric("tasks", "estimate", 7), metric("lut", "csynth", 5)];
const DIFFERENCE: Difference = {
  metric: "latency",
  unit: "us",
  predicted_by: "estimate",
  predicted: 100,
  fidelity: "cosim",
  value: 120,
  error: -1 / 6,
};

test("fidelities stand in the order of the ladder", () => {
  expect(columnsOf(METRICS)).toEqual(["estimate", "csynth", "cosim"]);
});

test("a metric of one fidelity is shown only when all are asked for", () => {
  expect(rowsOf(METRICS, [], false).map((r) => r.name)).toEqual(["latency"]);
  expect(rowsOf(METRICS, [], true).map((r) => r.name)).toEqual(["latency", "lut", "tasks"]);
});

test("a difference stands at the better value, and a gap where there is none", () => {
  const [row] = rowsOf(METRICS, [DIFFERENCE], false);
  expect(row?.cells.map((c) => c?.metric.value ?? null)).toEqual([100, null, 120]);
  expect(row?.cells.map((c) => c?.difference ?? null)).toEqual([null, null, DIFFERENCE]);
});

test("bars end at half the value", () => {
  expect([barOf(0), barOf(-0.25), barOf(3)]).toEqual([0, 0.5, 1]);
});
