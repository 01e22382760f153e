import { expect, test } from "vitest";
import { byBusy, kernelStarts, longestKernel, taskShares } from "@/features/timing/shares";
import type { TaskRun } from "@/features/timing/simulation";

const task = (name: string, kernel: number, end: number, empty: number, full: number): TaskRun => ({
  name,
  kernel,
  iterations: 8,
  start: 0,
  end,
  empty,
  full,
});

test("kernels start one after the other, and the longest is the first of equals", () => {
  const kernels = [{ cycles: 30 }, { cycles: 70 }, { cycles: 70 }];
  expect(kernelStarts({ kernels })).toEqual([0, 30, 100]);
  expect(longestKernel({ kernels })).toBe(1);
});

test("a task is busy from the start of its kernel to its end, less what it waits", () => {
  const kernels = [{ cycles: 100 }, { cycles: 200 }];
  const tasks = [task("late", 1, 280, 40, 20), task("early", 0, 50, 10, 0)];
  const [early, late] = taskShares({ kernels, tasks });
  expect(early).toMatchObject({ name: "early", busy: 0.4, empty: 0.1, full: 0, idle: 0.5 });
  expect(late).toMatchObject({ name: "late", busy: 0.6, empty: 0.2, full: 0.1 });
  expect(late?.idle).toBeCloseTo(0.1);
});

test("a task that never ran, in a kernel that never started, is idle", () => {
  const [never] = taskShares({ kernels: [{ cycles: 10 }], tasks: [task("never", 1, 0, 0, 0)] });
  expect(never).toMatchObject({ busy: 0, empty: 0, full: 0, idle: 1 });
});

test("the busiest task comes first", () => {
  const kernels = [{ cycles: 10 }];
  const tasks = [task("a", 0, 4, 0, 0), task("b", 0, 9, 0, 0)];
  expect(byBusy(taskShares({ kernels, tasks })).map((t) => t.name)).toEqual(["b", "a"]);
});
