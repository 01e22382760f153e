import { type Point, type Snapshot, paretoFront } from "@/features/pareto/cloud";
import { estimateError } from "@/lib/estimate";

/** At which of its two latencies a design is shown; its other objectives are estimated in both. */
export type Shown = "estimate" | "simulate";

export const isSimulated = (p: Point): boolean => p.simulated !== null && p.simulated > 0;

/** The designs that have a latency at `shown`, there, and their front; `latency`: its place among the objectives. */
export function at(snapshot: Snapshot, shown: Shown, latency: number): Snapshot {
  if (shown === "estimate") return snapshot;
  const points = snapshot.points.filter(isSimulated).map((p) => ({ ...p, objectives: withLatency(p.objectives, latency, p.simulated) }));
  return { ...snapshot, points, front: paretoFront(points) };
}

/** The objectives with this latency at its place among them. */
export const withLatency = (objectives: readonly number[], latency: number, value: number | null): readonly number[] =>
  objectives.map((own, i) => (i === latency ? (value ?? own) : own));

/** Its latency at the other fidelity, null where it has none. */
export const counterpart = (p: Point, shown: Shown): number | null => (shown === "estimate" ? p.simulated : p.estimate);

/** How far its estimated latency is off, as a share of the simulated one; null unless both are known. */
export const errorOf = (p: Point): number | null => (p.simulated ? estimateError(p.estimate, p.simulated) : null);
