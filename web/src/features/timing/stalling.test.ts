import { expect, test } from "vitest";
import { stallingInWords } from "@/features/timing/stalling";

const run = { cycles: 1204, fifo: null, deadlock: null, fidelity: "simulate" } as const;

test("whether a design ends with stalling pipelines, and the FIFO that is full where it does not", () => {
  expect(stallingInWords({ ...run, ends: true })).toBe("ends after 1,204 cycles");
  expect(stallingInWords({ ...run, ends: false, fifo: "row" })).toBe("deadlocks after 1,204 cycles, FIFO row is full");
  expect(stallingInWords({ ...run, ends: false })).toBe("deadlocks after 1,204 cycles");
  expect(stallingInWords({ ...run, ends: null, cycles: null })).toBe("not known: simulating it took too long");
});
