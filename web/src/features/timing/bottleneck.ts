import { type TaskShare, byBusy, longestKernel, taskShares } from "@/features/timing/shares";
import type { FifoRun, HbmUse, Simulation } from "@/features/timing/simulation";
import { number, percent, rough } from "@/lib/format";

/** From this share of the time on, a task is what the others wait for. */
const BUSY = 0.9;
const WORTH_SAYING = 0.01;

/** FIFOs that held a task up, the most first. A load that runs ahead of the use of its data costs nothing. */
export function byBlocked({ fifos, hbm }: Pick<Simulation, "fifos" | "hbm">): FifoRun[] {
  const loads = new Set(hbm.map((h) => h.task));
  return fifos.filter((f) => f.full > 0 && !loads.has(f.source)).sort((a, b) => b.full - a.full);
}

function ofTask(tasks: readonly TaskShare[], whole: string): string[] {
  const [top, ...others] = tasks;
  if (!top) return ["The simulation has no task."];
  const near = others.filter((t) => t.busy >= BUSY);
  if (top.busy < BUSY) {
    const losses = `it waits for input ${percent(top.empty)} and for room ${percent(top.full)}`;
    const together = tasks.reduce((sum, t) => sum + t.busy, 0);
    const most = `No task is busy all the time: ${top.name} comes closest with ${percent(top.busy)} of ${whole}; ${losses}.`;
    return [most, `On average ${rough(together)} of ${number(tasks.length)} tasks work at once.`];
  }
  if (!near.length) return [`${top.name} is busy ${percent(top.busy)} of ${whole}; everything else waits for it.`];
  const more = near.length === 1 ? near[0]?.name : `${number(near.length)} more`;
  return [`${top.name} and ${more} are busy at least ${percent(BUSY)} of ${whole}; the rest waits for them.`];
}

function ofMemory(task: TaskShare | undefined, hbm: readonly HbmUse[]): string[] {
  const use = hbm.find((h) => h.task === task?.name);
  if (!task || task.busy < BUSY || !use || use.gb_s < BUSY * use.bound_gb_s) return [];
  return [`${use.task} moves ${rough(use.gb_s)} of at most ${rough(use.bound_gb_s)} GB/s: HBM limits it.`];
}

function ofFifo(fifo: FifoRun | undefined, cycles: number): string[] {
  if (!fifo || fifo.full < WORTH_SAYING * cycles) return ["No full FIFO holds anything up for long."];
  const share = percent(fifo.full / cycles);
  return [`${fifo.name} is full for ${number(fifo.full)} cycles (${share}): ${fifo.source} waits until ${fifo.target} reads.`];
}

/** What limits the design, in sentences: the kernel, its busiest task, HBM, the FIFO that blocks most. */
export function bottleneck(simulation: Simulation): string[] {
  const { kernels, cycles, hbm } = simulation;
  const longest = longestKernel(simulation);
  const several = kernels.length > 1;
  const share = (kernels[longest]?.cycles ?? 0) / (cycles || 1);
  const tasks = byBusy(taskShares(simulation).filter((t) => t.kernel === longest));
  return [
    ...(several ? [`Kernel ${longest} takes ${percent(share)} of the time.`] : []),
    ...ofTask(tasks, several ? "that" : "the time"),
    ...ofMemory(tasks[0], hbm),
    ...ofFifo(byBlocked(simulation)[0], cycles),
  ];
}
