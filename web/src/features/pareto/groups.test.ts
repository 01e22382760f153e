import { expect, test } from "vitest";
import type { Point } from "@/features/pareto/cloud";
import { alike } from "@/features/pareto/groups";
import type { FrontGroup } from "@/lib/api/types";

const point = (id: string): Point => ({
  id,
  number: 0,
  objectives: [1, 1],
  feasible: true,
  csim: null,
  estimate: 1,
  simulated: null,
  simulation: null,
});

const group = (design_id: string, ...members: string[]): FrontGroup => ({
  design_id,
  number: 0,
  rank: 1,
  objectives: [1, 1],
  fidelity: "estimate",
  latency_range: null,
  members,
});

const shown = (front: string, ...groups: FrontGroup[]) =>
  alike([...front].map(point), groups).map((one) => [one.point.id, one.others.map((p) => p.id).join(""), one.group?.design_id ?? ""]);

test("a group is the design that stands for it, in the order of the front", () => {
  expect(shown("abcd", group("b", "a", "b", "c"))).toEqual([
    ["b", "ac", "b"],
    ["d", "", ""],
  ]);
});

test("what the service has not grouped yet stands alone, and so does what lost the one that stood for it", () => {
  expect(shown("acde", group("b", "a", "b", "c"), group("d", "d", "gone"))).toEqual([
    ["a", "", ""],
    ["c", "", ""],
    ["d", "", "d"],
    ["e", "", ""],
  ]);
});
