import type { Simulation } from "@/features/timing/simulation";

/** What a task does with the time of its kernel, as shares of it. */
export interface TaskShare {
  name: string;
  kernel: number;
  iterations: number;
  start: number;
  end: number;
  busy: number;
  empty: number;
  full: number;
  idle: number;
}

const within = (share: number) => Math.min(1, Math.max(0, share));

/** Kernels run one after the other: the cycle in which each starts. */
export function kernelStarts({ kernels }: Pick<Simulation, "kernels">): number[] {
  let start = 0;
  return kernels.map(({ cycles }) => {
    const mine = start;
    start += cycles;
    return mine;
  });
}

/** In topological order, kernel by kernel. A task waits from the start of its kernel and is idle after its end. */
export function taskShares(simulation: Pick<Simulation, "kernels" | "tasks">): TaskShare[] {
  const starts = kernelStarts(simulation);
  const shares = simulation.tasks.map(({ name, kernel, iterations, start, end, empty, full }) => {
    const length = simulation.kernels[kernel]?.cycles || 1;
    const busy = within((end - (starts[kernel] ?? 0) - empty - full) / length);
    const waits = { empty: within(empty / length), full: within(full / length) };
    return { name, kernel, iterations, start, end, busy, ...waits, idle: within(1 - busy - waits.empty - waits.full) };
  });
  return shares.sort((a, b) => a.kernel - b.kernel);
}

export const byBusy = (shares: readonly TaskShare[]): TaskShare[] => [...shares].sort((a, b) => b.busy - a.busy);

/** The kernel that takes most of the time. */
export function longestKernel({ kernels }: Pick<Simulation, "kernels">): number {
  return kernels.reduce((best, { cycles }, i) => (cycles > (kernels[best]?.cycles ?? 0) ? i : best), 0);
}
