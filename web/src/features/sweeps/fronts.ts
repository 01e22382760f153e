import type { FrontChange } from "@/lib/api/sweeps";
import type { Columns, Fidelity } from "@/lib/api/types";
import { type Placed, unbeaten } from "@/lib/front";

export interface FrontDesign extends Placed {
  readonly id: string;
}

export interface Overlay {
  before: FrontDesign[];
  after: FrontDesign[];
  fresh: FrontDesign[];
  lost: FrontDesign[];
  moved: { id: string; number: number; before: FrontDesign; after: FrontDesign }[];
}

/**
 * The front of an exploration at a fidelity: among the designs of the front by estimate, as the service compares them.
 * `latency`: its place among the objectives.
 */
export function frontOf(columns: Columns | null, fidelity: Fidelity, latency: number): FrontDesign[] {
  if (!columns) return [];
  const { simulated_us: simulated = [] } = columns;
  const designs = columns.id.flatMap((id, i) => {
    if (!columns.on_front[i] || (fidelity !== "estimate" && !simulated[i])) return [];
    const estimates = columns.objectives.map((values) => values[i] ?? Number.NaN);
    const objectives = fidelity === "estimate" ? estimates : estimates.map((own, k) => (k === latency ? (simulated[i] ?? own) : own));
    return [{ id, number: columns.number[i] ?? 0, objectives }];
  });
  return unbeaten(designs);
}

const placed = (id: string, number: number, objectives: readonly number[]): FrontDesign => ({ id, number, objectives });

/** The two fronts and what became of their points; where the fronts are not known whole, the points that changed. */
export function overlay(change: FrontChange, latency: number, before: Columns | null, after: Columns | null): Overlay {
  const fresh = change.new.map((p) => placed(p.id, p.number, p.objectives));
  const lost = change.lost.map((p) => placed(p.id, p.number, p.objectives));
  const moved = change.moved.map((p) => ({
    id: p.id,
    number: p.number,
    before: placed(p.id, p.number, p.before),
    after: placed(p.id, p.number, p.after),
  }));
  const drawable = change.fidelity === "estimate" || change.fidelity === "simulate";
  const whole = (columns: Columns | null, known: FrontDesign[]) => {
    const found = drawable ? frontOf(columns, change.fidelity, latency) : [];
    return found.length ? found : unbeaten(known);
  };
  return {
    before: whole(before, [...lost, ...moved.map((m) => m.before)]),
    after: whole(after, [...fresh, ...moved.map((m) => m.after)]),
    fresh,
    lost,
    moved,
  };
}
