import type { Deadlock, FifoRun } from "@/features/timing/simulation";
import { number } from "@/lib/format";

/** Which FIFO would have to be how deep, in words. */
export function remedy({ needed }: Pick<Deadlock, "needed">, fifos: readonly FifoRun[]): string {
  const depths = new Map(fifos.map((f) => [f.name, f.depth]));
  const changes = Object.entries(needed).map(([fifo, depth]) => {
    const now = depths.get(fifo);
    return `${fifo} ${number(depth)} deep${now === undefined ? "" : ` instead of ${number(now)}`}`;
  });
  return changes.length ? `It runs with ${changes.join(" and ")}.` : "No depth of a FIFO would break it.";
}
