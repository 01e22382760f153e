import { expect, test } from "vitest";
import { frontOf, overlay } from "@/features/sweeps/fronts";
import type { FrontChange } from "@/lib/api/sweeps";
import type { Columns } from "@/lib/api/types";

const COLUMNS: Columns = {
  id: ["a", "b", "c", "d"],
  number: [0, 1, 2, 3],
  objectives: [
    [10, 20, 30, 5],
    [9, 5, 1, 50],
  ],
  latency_us: [10, 20, 30, 5],
  feasible: [true, true, true, false],
  on_front: [true, true, true, false],
  csim: [null, null, null, null],
  simulated_us: [35, 21, null, null],
  simulation: ["done", "done", null, null],
};
const CHANGE: FrontChange = {
  fidelity: "estimate",
  before: 2,
  after: 3,
  hypervolume_before: 2,
  hypervolume_after: 1.9,
  change: -0.05,
  new: [{ id: "c", number: 2, objectives: [30, 1] }],
  new_count: 1,
  lost: [{ id: "x", number: 9, objectives: [12, 4] }],
  lost_count: 1,
  moved: [{ id: "a", number: 0, before: [9, 9], after: [10, 9] }],
  moved_count: 1,
};

test("the front by estimate is the one that the service marks", () => {
  expect(frontOf(COLUMNS, "estimate", 0).map((d) => d.id)).toEqual(["a", "b", "c"]);
});

test("by the simulator a design of the front may beat another one", () => {
  expect(frontOf(COLUMNS, "simulate", 0).map((d) => d.id)).toEqual(["b"]);
});

test("points are told by what became of them", () => {
  const found = overlay(CHANGE, 0, null, COLUMNS);
  expect(found.after.map((d) => d.id)).toEqual(["a", "b", "c"]);
  expect([found.fresh, found.lost].map((list) => list.map((d) => d.id))).toEqual([["c"], ["x"]]);
  expect(found.moved[0]).toMatchObject({ before: { objectives: [9, 9] }, after: { objectives: [10, 9] } });
});

test("without the baseline's designs the changed points stand for it", () => {
  expect(overlay(CHANGE, 0, null, COLUMNS).before.map((d) => d.id)).toEqual(["a", "x"]);
  expect(overlay({ ...CHANGE, fidelity: "csynth" }, 0, COLUMNS, COLUMNS).after.map((d) => d.id)).toEqual(["a", "c"]);
});
