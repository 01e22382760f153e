import { expect, test } from "vitest";
import { bottleneck } from "@/features/timing/bottleneck";
import type { FifoRun, Simulation, TaskRun } from "@/features/timing/simulation";

const task = (name: string, empty: number, full = 0, kernel = 0): TaskRun => ({
  name,
  kernel,
  iterations: 1,
  start: 0,
  end: 1000,
  empty,
  full,
});

const fifo = (name: string, full: number): FifoRun => ({
  name,
  source: "a",
  target: "b",
  depth: 2,
  peak: 2,
  pushed: 9,
  empty: 0,
  full,
  reason: "",
});

const run = (parts: Partial<Simulation>): Simulation => ({
  cycles: 1000,
  latency_us: 4,
  clock_mhz: 250,
  estimate_cycles: null,
  deadlock: null,
  kernels: [{ cycles: 1000 }],
  tasks: [],
  fifos: [],
  hbm: [],
  timeline: { bucket_cycles: 1, tasks: [] },
  ...parts,
});

test("one task that works all the time is what limits", () => {
  expect(bottleneck(run({ tasks: [task("softmax", 700), task("fc1", 20)] }))).toEqual([
    "fc1 is busy 98 % of the time; everything else waits for it.",
    "No full FIFO holds anything up for long.",
  ]);
});

test("several that do are named or counted", () => {
  const two = [task("fc1", 20), task("fc2", 50), task("idle", 900)];
  expect(bottleneck(run({ tasks: two }))[0]).toBe("fc1 and fc2 are busy at least 90 % of the time; the rest waits for them.");
  expect(bottleneck(run({ tasks: [...two, task("fc3", 60)] }))[0]).toContain("fc1 and 2 more are busy");
});

test("none that does: what the busiest one waits for", () => {
  expect(bottleneck(run({ tasks: [task("fc1", 300, 100)] }))[0]).toBe(
    "No task is busy all the time: fc1 comes closest with 60 % of the time; it waits for input 30 % and for room 10 %.",
  );
  expect(bottleneck(run({ tasks: [task("fc1", 300, 100), task("fc2", 400)] }))[1]).toBe(
    "On average 1.2 of 2 tasks work at once.",
  );
});

test("of several kernels the longest is spoken of", () => {
  const kernels = [{ cycles: 1000 }, { cycles: 3000 }];
  const tasks = [task("first", 0), { ...task("second", 0, 0, 1), end: 4000 }];
  const [kernel, what] = bottleneck(run({ cycles: 4000, kernels, tasks }));
  expect(kernel).toBe("Kernel 1 takes 75 % of the time.");
  expect(what).toBe("second is busy 100 % of that; everything else waits for it.");
});

test("a load at the bound of its channels is limited by HBM", () => {
  const use = { task: "load_w", channels: 4, bytes: 1, gb_s: 51.9, bound_gb_s: 52.4 };
  const limited = bottleneck(run({ tasks: [task("load_w", 0)], hbm: [use] }));
  expect(limited[1]).toBe("load_w moves 51.9 of at most 52.4 GB/s: HBM limits it.");
  expect(bottleneck(run({ tasks: [task("load_w", 0)], hbm: [{ ...use, gb_s: 20 }] }))[1]).toContain("No full FIFO");
  const early = bottleneck(run({ tasks: [task("load_w", 0, 800)], hbm: [use] }));
  expect(early.join()).not.toContain("HBM limits");
});

test("the FIFO that blocks most is named with who waits", () => {
  const sentences = bottleneck(run({ tasks: [task("fc1", 0)], fifos: [fifo("x", 5), fifo("skip", 240)] }));
  expect(sentences.at(-1)).toBe("skip is full for 240 cycles (24 %): a waits until b reads.");
});

test("a load that is ahead of the use of its data holds nothing up", () => {
  const use = { task: "a", channels: 1, bytes: 1, gb_s: 1, bound_gb_s: 13.1 };
  expect(bottleneck(run({ fifos: [fifo("x", 900)], hbm: [use] })).at(-1)).toContain("No full FIFO");
});
