import type { StallingRun } from "@/features/timing/simulation";
import { number } from "@/lib/format";

/** Whether the design ends, too, when all its pipelines stall. */
export function stallingInWords({ ends, cycles, fifo }: StallingRun): string {
  if (ends === null || cycles === null) return "not known: simulating it took too long";
  if (ends) return `ends after ${number(cycles)} cycles`;
  return `deadlocks after ${number(cycles)} cycles${fifo ? `, FIFO ${fifo} is full` : ""}`;
}
