import { expect, test } from "vitest";
import { type Order, fifoRows, nextOrder, sorted } from "@/features/timing/fifos";
import type { FifoRun } from "@/features/timing/simulation";

const fifo = (name: string, depth: number, peak: number, full = 0): FifoRun => ({
  name,
  source: "a",
  target: "b",
  depth,
  peak,
  pushed: 9,
  empty: 0,
  full,
  reason: "",
});

test("a FIFO takes width and memory from the stream of its name", () => {
  const [x, y] = fifoRows([fifo("x", 8, 6), fifo("y", 2, 2)], [{ name: "x", width: 32, kind: "registers" }]);
  expect(x).toMatchObject({ width: 32, memory: "SRL", used: 0.75 });
  expect(y).toMatchObject({ width: null, memory: null, used: 1 });
});

test("rows sort by figures and by names, ties by name", () => {
  const rows = fifoRows([fifo("b", 2, 1, 5), fifo("a", 16, 2, 5), fifo("c", 4, 4)], []);
  const names = (order: Order) => sorted(rows, order).map((r) => r.name);
  expect(names({ column: "full", descending: true })).toEqual(["a", "b", "c"]);
  expect(names({ column: "depth", descending: false })).toEqual(["b", "c", "a"]);
  expect(names({ column: "name", descending: true })).toEqual(["c", "b", "a"]);
});

test("the same column again turns the order round", () => {
  const full: Order = { column: "full", descending: true };
  expect(nextOrder(full, "full")).toEqual({ column: "full", descending: false });
  expect(nextOrder(full, "name")).toEqual({ column: "name", descending: false });
  expect(nextOrder(full, "reason")).toEqual({ column: "reason", descending: false });
  expect(nextOrder(full, "depth")).toEqual({ column: "depth", descending: true });
});
