import { unbeaten } from "@/lib/front";
import { isOpen } from "@/lib/states";
import type { BuildEvent, Columns, CsimState, PromotedEvent, SimulatedEvent, SimulationState } from "@/lib/api/types";

export interface Point {
  readonly id: string;
  readonly number: number;
  /** With the latency of the fidelity that is shown; the cloud itself keeps the estimate. */
  readonly objectives: readonly number[];
  readonly feasible: boolean;
  readonly csim: CsimState | null;
  /** Latency by the estimate. */
  readonly estimate: number;
  /** Latency by the simulator; null until it ran, and where it deadlocks. */
  readonly simulated: number | null;
  readonly simulation: SimulationState | null;
}

/** What the page draws: one consistent moment of the search. */
export interface Snapshot {
  /** Designs stored, those without objectives included. */
  readonly evaluated: number;
  readonly feasible: number;
  /** Designs that have a place in the plot. */
  readonly points: readonly Point[];
  /** What no other feasible design beats, sorted by the first objective. */
  readonly front: readonly Point[];
}

export const EMPTY: Snapshot = { evaluated: 0, feasible: 0, points: [], front: [] };

/**
 * The designs of an exploration, merged by id. A new connection repeats all events from the first, so an event may come
 * twice and late: the front follows from the designs that are known, not from the order in which they came.
 */
export class Cloud {
  private readonly designs = new Map<string, Point>();

  merge(columns: Columns): void {
    columns.id.forEach((id, i) => {
      const known = this.designs.get(id);
      const objectives = columns.objectives.map((values) => values[i] ?? Number.NaN);
      this.designs.set(id, {
        id,
        number: columns.number[i] ?? 0,
        objectives,
        estimate: columns.latency_us[i] ?? Number.NaN,
        feasible: columns.feasible[i] ?? false,
        csim: columns.csim[i] ?? known?.csim ?? null,
        simulated: columns.simulated_us?.[i] ?? known?.simulated ?? null,
        simulation: columns.simulation?.[i] ?? known?.simulation ?? null,
      });
    });
  }

  setBuild(event: BuildEvent): void {
    const point = event.design_id === null ? undefined : this.designs.get(event.design_id);
    if (point && event.stage === "csim") this.designs.set(point.id, { ...point, csim: csimState(event) });
  }

  /** A design that the simulator is through with stays so, whenever its promotion is heard of. */
  promote({ stage, ids, calibration }: PromotedEvent): void {
    if (stage !== "simulate") return;
    for (const id of [...ids, ...calibration]) {
      const point = this.designs.get(id);
      if (point?.simulation === null) this.designs.set(id, { ...point, simulation: "running" });
    }
  }

  setSimulated({ id, state, latency_us }: SimulatedEvent): void {
    const point = this.designs.get(id);
    if (point) this.designs.set(id, { ...point, simulated: latency_us, simulation: state });
  }

  snapshot(): Snapshot {
    const all = [...this.designs.values()];
    const points = all.filter((p) => p.objectives.every((value) => value >= 0));
    return { evaluated: all.length, feasible: all.filter((p) => p.feasible).length, points, front: paretoFront(points) };
  }
}

/** A design that fits the board and that no simulation refutes. */
const isUsable = (p: Point) => p.feasible && p.simulation !== "refuted";

/** Of designs with equal objectives the first one evaluated stays, as in `dse.archive.ParetoArchive`. */
export function paretoFront(points: readonly Point[]): Point[] {
  return unbeaten(points.filter(isUsable));
}

function csimState({ state, verdict }: BuildEvent): CsimState | null {
  if (isOpen(state)) return "running";
  if (state === "cancelled") return null;
  return verdict?.passed ? "passed" : "failed";
}
