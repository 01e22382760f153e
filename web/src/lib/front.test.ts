import { expect, test } from "vitest";
import { type Placed, unbeaten } from "@/lib/front";

/** Pair by pair. */
function slowly(points: readonly Placed[]): number[] {
  const covers = (a: Placed, b: Placed) => a.objectives.every((value, i) => value <= (b.objectives[i] ?? 0));
  const left = points.filter((p) => !points.some((q) => covers(q, p) && (!covers(p, q) || q.number < p.number)));
  return left.sort((a, b) => (a.objectives[0] ?? 0) - (b.objectives[0] ?? 0) || (a.objectives[1] ?? 0) - (b.objectives[1] ?? 0)).map((p) => p.number);
}

/** From 0 to 1, the same for every run. */
const drawn = (n: number) => ((Math.imul(n, 0x9e3779b1) ^ Math.imul(n, 0x85ebca6b)) >>> 0) / 2 ** 32;

test.each([2, 3])("a front of %i objectives is what no pair says is beaten", (count) => {
  for (let round = 0; round < 60; round += 1) {
    const points = Array.from({ length: 40 }, (_, i) => ({
      number: i,
      objectives: Array.from({ length: count }, (_, k) => Math.floor(drawn(round * 1000 + i * 7 + k + 1) * (3 + (round % 20)))),
    }));
    expect(unbeaten(points).map((p) => p.number)).toEqual(slowly(points));
  }
});

test("a front of 50,000 takes no pairs", () => {
  const count = 50_000;
  const points = Array.from({ length: count }, (_, i) => ({ number: i, objectives: [i, count - i, (i * 7919) % count] }));
  const start = performance.now();
  expect(unbeaten(points).length).toBe(count);
  expect(performance.now() - start).toBeLessThan(3000);
});
