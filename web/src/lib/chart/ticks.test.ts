import { expect, test } from "vitest";
import { ticks } from "@/lib/chart/ticks";

test("ticks are round and inside the axis", () => {
  expect(ticks([42, 1200], true, 8)).toEqual([50, 100, 200, 500, 1000]);
  expect(ticks([1, 1e6], true, 5)).toEqual([1, 10, 100, 1000, 10_000, 100_000, 1_000_000]);
  expect(ticks([370, 1450], true, 6)).toEqual([400, 600, 800, 1000, 1200, 1400]);
  expect(ticks([0.1, 0.34], false, 5)).toEqual([0.1, 0.15, 0.2, 0.25, 0.3]);
});
