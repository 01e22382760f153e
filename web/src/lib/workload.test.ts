import { expect, test } from "vitest";
import { workloadText } from "@/lib/workload";

const workload = { phase: "prefill", length: 32, batch: 1, precision: "w8a8", layers: 2, ports: "f32" } as const;

test("a workload reads like the options of the command line", () => {
  const text = workloadText({ model: { id: "m", name: "gpt2", kind: "builtin" }, workload });
  expect(text).toBe("prefill · sequence 32 · w8a8 · 2 layers");
});

test("a network from a file has no phase or length", () => {
  const one = { ...workload, length: 1, precision: "f32", layers: 1 } as const;
  expect(workloadText({ model: { id: "m", name: "net", kind: "onnx" }, workload: one })).toBe("whole network (.onnx) · f32");
});
