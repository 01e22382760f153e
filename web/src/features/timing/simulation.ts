/** What the page shows of a design's simulation.json; fields are named as in that file, times are cycles. */

import type { Fidelity } from "@/lib/api/types";

export type Because = "empty" | "full";

/** `task` waits for `fifo`, which holds no token or has no room. */
export interface Wait {
  task: string;
  fifo: string;
  because: Because;
}

/** `cycle`: each task waits for the next, the last for the first; empty where one waits for a task that has ended. */
export interface Deadlock {
  text: string;
  cycle: Wait[];
  /** Depths with which the design runs to its end, by FIFO; empty where none do. */
  needed: Record<string, number>;
}

/** `start` and `end` since the first kernel's start; `empty` and `full` count the cycles that a FIFO held it up. */
export interface TaskRun {
  name: string;
  kernel: number;
  iterations: number;
  start: number;
  end: number;
  empty: number;
  full: number;
}

export interface FifoRun {
  name: string;
  source: string;
  target: string;
  depth: number;
  peak: number;
  pushed: number;
  empty: number;
  full: number;
  /** Why it is not smaller. */
  reason: string;
}

/** A load or a store; `bound_gb_s` is what its channels can deliver. */
export interface HbmUse {
  task: string;
  channels: number;
  bytes: number;
  gb_s: number;
  bound_gb_s: number;
}

/** Shares of each bucket of `bucket_cycles`; what is missing to 1 the task is idle. */
export interface TaskTimeline {
  name: string;
  busy: number[];
  empty: number[];
  full: number[];
}

/** One more run with all pipelines stalling (stp); `ends` is null where that took too long to find out. */
export interface StallingRun {
  ends: boolean | null;
  cycles: number | null;
  /** A full FIFO of the deadlock. */
  fifo: string | null;
  deadlock: string | null;
  fidelity: Fidelity;
}

export interface Simulation {
  cycles: number;
  latency_us: number;
  clock_mhz: number;
  estimate_cycles: number | null;
  deadlock: Deadlock | null;
  /** Files of an earlier release lack it. */
  stalling?: StallingRun | null;
  kernels: { cycles: number }[];
  tasks: TaskRun[];
  fifos: FifoRun[];
  hbm: HbmUse[];
  timeline: { bucket_cycles: number; tasks: TaskTimeline[] };
}
