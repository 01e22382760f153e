import { expect, test } from "vitest";
import { historyOf, rangeOf } from "@/features/sweeps/historyOption";
import type { SweepRunSummary } from "@/lib/api/sweeps";

const run = (id: string, created_at: string, index: number | null) => ({ id, created_at, index }) as SweepRunSummary;

test("runs without an index are left out, and the oldest comes first", () => {
  const points = historyOf([run("c", "2026-11-03T00:00:00Z", 0.9), run("b", "2026-11-02T00:00:00Z", null), run("a", "2026-11-01T00:00:00Z", 1)]);
  expect(points.map((p) => p.run.id)).toEqual(["a", "c"]);
});

test("small changes look small", () => {
  const [low, high] = rangeOf([1, 1.001]);
  expect(high - low).toBeGreaterThan(0.04);
  expect(rangeOf([0.5, 1.5])[0]).toBeCloseTo(0.35);
});
