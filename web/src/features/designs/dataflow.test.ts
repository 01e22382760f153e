import { expect, test } from "vitest";
import {
  type Dataflow,
  type Placement,
  type Task,
  convertersOf,
  crossingsText,
  enginesOf,
  loopsOf,
  shortfallText,
  stackedUse,
  tasksByDie,
  totalOf,
} from "@/features/designs/dataflow";

const converter = (bytes: number) => ({
  realisation: { kind: "ping-pong" },
  bytes,
  paper_bytes: 2 * bytes,
  exact_bytes: bytes,
});

const placement: Placement = {
  slr: { a: "SLR0", b: "SLR1", c: "SLR0" },
  crossings: [],
  boundaries: [],
  use: { SLR1: { lut: 30, dsp: 0 }, SLR0: { lut: 50, dsp: 8 } },
  method: "milp",
  gap: 0,
  shortfalls: [],
};

test("converters are the largest first, without the prefix that all of them share", () => {
  const task = (name: string, bytes: number | null) => ({
    name,
    kind: "compute",
    kernel: 0,
    converter: bytes === null ? null : converter(bytes),
  });
  const dataflow: Dataflow = { kernels: 1, streams: [], tasks: [task("convert_a", 8), task("add", null), task("convert_b", 64)] };
  const rows = convertersOf(dataflow);
  expect(rows.map((r) => r.name)).toEqual(["b", "a"]);
  expect(totalOf(rows, "paper_bytes")).toBe(144);
});

test("bars are stacked by die and as long as the budget", () => {
  const [lut, dsp] = stackedUse(placement, { lut: 160 });
  expect(lut).toEqual({ resource: "lut", total: 80, shares: [50 / 160, 30 / 160] });
  expect(dsp?.shares).toEqual([1, 0]);
});

test("a bar never leaves its frame, nor divides by nothing", () => {
  expect(stackedUse(placement, { lut: 40 })[0]?.shares).toEqual([50 / 80, 30 / 80]);
  expect(stackedUse({ ...placement, use: { SLR0: { lut: 0 } } })[0]?.shares).toEqual([0]);
});

test("tasks are counted by die", () => {
  expect(tasksByDie(placement)).toEqual([2, 1]);
});

test("crossings say how many are registered, where the design says it", () => {
  const crossing = { name: "s", source: "SLR0", target: "SLR1", wires: 34 };
  const crossings = [2, 1, 2].map((registered) => ({ ...crossing, registered }));
  expect(crossingsText({ ...placement, crossings })).toBe("Streams and ports between dies: 3, 2 registered at both ends");
  expect(crossingsText({ ...placement, crossings: [crossing] })).toBe("Streams and ports between dies: 1");
});

test("a shortfall says who needs what of what there is", () => {
  const text = shortfallText({ subject: "a kernel", resource: "converter_bytes", demand: 5000, bound: 4096, levers: [] });
  expect(text).toBe("a kernel needs 5,000 of 4,096 converter bytes");
});

test("an engine is told once, with the iterations of each of its turns, and what leads back or begins with tokens", () => {
  const served = [{ op: "qkv" }, { op: "proj" }];
  const turns = [{ trips: [4, 8] }, { times: 3, body: [{ trips: [2] }, { trips: [] }] }];
  const alone: Task = { name: "alone", kind: "engine", kernel: 0, converter: null, turns, served };
  const slice = (n: number): Task => ({ ...alone, name: `engine0_slice${n}`, slice: { number: n, of: 2 } });
  const stream = { source: "a", target: "b", depth: 2, width: 32, kind: null };
  const back = { ...stream, name: "back", feedback: true, initial: 0 };
  const begun = { ...stream, name: "begun", feedback: false, initial: 1 };
  const dataflow: Dataflow = {
    kernels: 1,
    tasks: [alone, slice(0), slice(1)],
    streams: [{ ...stream, name: "plain" }, back, begun],
  };
  const iterations = [{ op: "qkv", iterations: 32 }, { op: "proj", iterations: 9 }];
  expect(enginesOf(dataflow)).toEqual([
    { name: "alone", slices: 1, turns: iterations },
    { name: "engine0", slices: 2, turns: iterations },
  ]);
  expect(loopsOf(dataflow)).toEqual([back, begun]);
});
