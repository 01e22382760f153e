import { expect, test } from "vitest";
import { layers, outline } from "@/features/timing/outline";

test("equal neighbours are one bar", () => {
  expect(outline([0.5, 0.5, 1])).toEqual([
    [0, 0],
    [0, 0.5],
    [2, 0.5],
    [2, 1],
    [3, 1],
    [3, 0],
  ]);
});

test("nothing is drawn for what never happens", () => {
  expect(outline([0, 0])).toEqual([]);
  expect(outline([])).toEqual([]);
  expect(layers({ busy: [1, 1], empty: [0, 0], full: [0, 0] })).toMatchObject({ waiting: [], blocked: [] });
});

test("layers are stacked and never leave their row", () => {
  const { busy, waiting, blocked } = layers({ busy: [0.25], empty: [0.25], full: [0.75] });
  expect([busy, waiting, blocked].map((corners) => corners[1])).toEqual([
    [0, 0.25],
    [0, 0.5],
    [0, 1],
  ]);
});

test("a steady task costs a few corners, however many buckets it has", () => {
  const steady = Array.from({ length: 200 }, () => 0.5);
  expect(outline(steady)).toHaveLength(4);
});
