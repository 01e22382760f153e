import { expect, test } from "vitest";
import { Cloud, paretoFront, type Point } from "@/features/pareto/cloud";
import type { Columns, Verdict } from "@/lib/api/types";

const point = (number: number, latency: number, energy: number, feasible = true): Point => ({
  id: `d${number}`,
  number,
  objectives: [latency, energy],
  feasible,
  csim: null,
  estimate: latency,
  simulated: null,
  simulation: null,
});

function columns(...points: Point[]): Columns {
  return {
    id: points.map((p) => p.id),
    number: points.map((p) => p.number),
    objectives: [0, 1].map((place) => points.map((p) => p.objectives[place] ?? null)),
    latency_us: points.map((p) => p.estimate),
    feasible: points.map((p) => p.feasible),
    on_front: points.map(() => false),
    csim: points.map(() => null),
    simulated_us: points.map(() => null),
    simulation: points.map(() => null),
  };
}

const verdict = (passed: boolean): Verdict => ({
  passed,
  outputs: [],
  tasks_checked: 0,
  message: "",
  seconds: 0,
});

test("the front holds what no feasible design beats, by latency", () => {
  const points = [point(0, 5, 5), point(1, 1, 9), point(2, 9, 1), point(3, 6, 6), point(4, 0.5, 0.5, false)];
  expect(paretoFront(points).map((p) => p.number)).toEqual([1, 0, 2]);
});

test("of equal designs the first stays, and a tie in one objective is beaten", () => {
  expect(paretoFront([point(7, 2, 2), point(3, 2, 2), point(4, 2, 3), point(5, 3, 2)]).map((p) => p.number)).toEqual([3]);
});

test("events that come twice or late change nothing", () => {
  const [a, b] = [columns(point(0, 1, 9)), columns(point(1, 9, 1))];
  const forward = new Cloud();
  forward.merge(a);
  forward.merge(b);
  const backward = new Cloud();
  backward.merge(b);
  backward.merge(a);
  backward.merge(b);
  expect(backward.snapshot().front).toEqual(forward.snapshot().front);
  expect(backward.snapshot().evaluated).toBe(2);
});

test("a design without objectives counts but has no place in the plot", () => {
  const cloud = new Cloud();
  cloud.merge({ ...columns(point(0, 1, 1, false)), objectives: [[null], [null]], latency_us: [null] });
  expect(cloud.snapshot()).toMatchObject({ evaluated: 1, feasible: 0, points: [], front: [] });
});

test("builds set the verdict of their design, and a repeated design keeps it", () => {
  const cloud = new Cloud();
  cloud.merge(columns(point(0, 1, 1)));
  cloud.setBuild({ design_id: "d0", stage: "csim", state: "running", verdict: null });
  expect(cloud.snapshot().front[0]?.csim).toBe("running");
  cloud.setBuild({ design_id: "d0", stage: "csim", state: "done", verdict: verdict(true) });
  cloud.merge(columns(point(0, 1, 1)));
  expect(cloud.snapshot().front[0]?.csim).toBe("passed");
});
