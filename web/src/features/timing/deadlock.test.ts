import { expect, test } from "vitest";
import { remedy } from "@/features/timing/deadlock";
import type { FifoRun } from "@/features/timing/simulation";

const fifos: FifoRun[] = [
  { name: "skip", source: "a", target: "b", depth: 2, peak: 2, pushed: 3, empty: 0, full: 9, reason: "" },
];

test("a deadlock says which FIFOs would have to be how deep", () => {
  expect(remedy({ needed: { skip: 64 } }, fifos)).toBe("It runs with skip 64 deep instead of 2.");
  expect(remedy({ needed: { skip: 64, other: 3 } }, fifos)).toBe("It runs with skip 64 deep instead of 2 and other 3 deep.");
  expect(remedy({ needed: {} }, fifos)).toBe("No depth of a FIFO would break it.");
});
