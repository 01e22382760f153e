import { expect, test } from "vitest";
import { Cloud, type Snapshot } from "@/features/pareto/cloud";
import { at, counterpart, errorOf } from "@/features/pareto/fidelity";
import type { SimulationState } from "@/lib/api/types";

/** Three designs of which the fast one is slower than it was estimated, and one that was not simulated. */
function cloud(simulation: (SimulationState | null)[] = ["done", "done", "done", null]): Cloud {
  const made = new Cloud();
  made.merge({
    id: ["a", "b", "c", "d"],
    number: [0, 1, 2, 3],
    objectives: [
      [10, 20, 40, 50],
      [90, 80, 70, 60],
    ],
    latency_us: [10, 20, 40, 50],
    feasible: [true, true, true, true],
    on_front: [true, true, true, true],
    csim: [null, null, null, null],
    simulated_us: [25, 22, 39, null],
    simulation,
  });
  return made;
}

const ids = ({ front }: Snapshot) => front.map((p) => p.id);

test("the front of the simulator is that of the simulated latencies", () => {
  const snapshot = cloud().snapshot();
  expect(ids(at(snapshot, "estimate", 0))).toEqual(["a", "b", "c", "d"]);
  const simulated = at(snapshot, "simulate", 0);
  expect(simulated.points.map((p) => p.objectives[0])).toEqual([25, 22, 39]);
  expect(ids(simulated)).toEqual(["b", "c"]);
});

test("each fidelity knows where the design is at the other", () => {
  const [a] = at(cloud().snapshot(), "simulate", 0).points;
  expect(a && counterpart(a, "simulate")).toBe(10);
  expect(a && errorOf(a)).toBeCloseTo(-0.6);
  const d = cloud().snapshot().points[3];
  expect(d && [counterpart(d, "estimate"), errorOf(d)]).toEqual([null, null]);
});

test("a refuted design is not on the front, at either fidelity", () => {
  const snapshot = cloud(["done", "refuted", null, null]).snapshot();
  expect(ids(snapshot)).toEqual(["a", "c", "d"]);
  expect(ids(at(snapshot, "simulate", 0))).toEqual(["a", "c"]);
});

test("events of the simulator may come before, after and twice", () => {
  const made = cloud([null, null, null, null]);
  made.setSimulated({ id: "b", state: "refuted", latency_us: null });
  made.promote({ stage: "simulate", ids: ["b", "c"], calibration: ["d", "unknown"] });
  const states = made.snapshot().points.map((p) => p.simulation);
  expect(states).toEqual([null, "refuted", "running", "running"]);
  expect(ids(made.snapshot())).toEqual(["a", "c", "d"]);
});
