import { expect, test } from "vitest";
import { type Row, bucketCount, moved, reading, timelineRows } from "@/features/timing/rows";
import type { Simulation } from "@/features/timing/simulation";

const task = (name: string, kernel: number) => ({ name, kernel, iterations: 1, start: 0, end: 9, empty: 0, full: 0 });

const run: Simulation = {
  cycles: 30,
  latency_us: 1,
  clock_mhz: 250,
  estimate_cycles: null,
  deadlock: null,
  kernels: [{ cycles: 10 }, { cycles: 20 }],
  tasks: [task("a", 0), task("c", 1), task("b", 0)],
  fifos: [],
  hbm: [],
  timeline: { bucket_cycles: 20, tasks: [{ name: "a", busy: [0.5, 0], empty: [0.25, 0], full: [0, 0] }] },
};

const names = (rows: readonly Row[]) => rows.map((r) => (r.kind === "task" ? r.share.name : `kernel ${r.kernel}`));

test("tasks stand below their kernel in the order of the network", () => {
  expect(names(timelineRows(run))).toEqual(["kernel 0", "a", "b", "kernel 1", "c"]);
  expect(bucketCount(run)).toBe(2);
});

test("a single kernel needs no heading", () => {
  expect(names(timelineRows({ ...run, kernels: [{ cycles: 30 }], tasks: [task("a", 0)] }))).toEqual(["a"]);
});

test("a bucket reads as shares, and the last one ends with the run", () => {
  const row = timelineRows(run)[1] as Row;
  expect(reading(row, 0, 20, 30)).toEqual({
    title: "a",
    span: "cycles 0 to 20",
    shares: [
      ["busy", "50 %"],
      ["waiting for input", "25 %"],
      ["blocked by a full FIFO", "0.0 %"],
      ["idle", "25 %"],
    ],
  });
  expect(reading(row, 1, 20, 30).span).toBe("cycles 20 to 30");
});

test("arrow keys move inside the timeline only", () => {
  expect(moved({ row: 0, bucket: 0 }, "ArrowUp", 5, 2)).toEqual({ row: 0, bucket: 0 });
  expect(moved({ row: 0, bucket: 0 }, "ArrowDown", 5, 2)).toEqual({ row: 1, bucket: 0 });
  expect(moved({ row: 4, bucket: 1 }, "ArrowRight", 5, 2)).toEqual({ row: 4, bucket: 1 });
  expect(moved({ row: 4, bucket: 0 }, "End", 5, 2)).toEqual({ row: 4, bucket: 1 });
  expect(moved({ row: 4, bucket: 0 }, "Tab", 5, 2)).toBeNull();
});
