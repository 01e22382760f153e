import { AREA, GROUPS, HBM_BANDWIDTH, RANK, otherNames, valuesOf } from "@/features/designs/metrics";
import type { Difference, Fidelity, Metric } from "@/lib/api/types";

export interface Cell {
  metric: Metric;
  /** How far the fidelity before it, of those that the metric has, is off this one. */
  difference: Difference | null;
}

export interface MetricRow {
  name: string;
  unit: string;
  /** One for each column, null where the metric has no such fidelity. */
  cells: (Cell | null)[];
}

/** The fidelities that a design has, weakest first. */
export function columnsOf(metrics: readonly Metric[]): Fidelity[] {
  return [...new Set(metrics.map((m) => m.fidelity))].sort((a, b) => RANK[a] - RANK[b]);
}

const order = (metrics: readonly Metric[]): string[] => {
  const [latency, energy, ...rest] = GROUPS.map((group) => group.names);
  return [...(latency ?? []), ...(energy ?? []), ...AREA, HBM_BANDWIDTH, ...rest.flat(), ...otherNames(metrics)];
};

/** Metrics side by side, those with several fidelities only unless `all`. */
export function rowsOf(metrics: readonly Metric[], differences: readonly Difference[], all: boolean): MetricRow[] {
  const columns = columnsOf(metrics);
  return order(metrics).flatMap((name) => {
    const known = valuesOf(metrics, name);
    const unit = known[0]?.unit;
    if (unit === undefined || (!all && known.length < 2)) return [];
    const cells = columns.map((fidelity) => {
      const metric = known.findLast((m) => m.fidelity === fidelity);
      const difference = differences.find((d) => d.metric === name && d.fidelity === fidelity) ?? null;
      return metric ? { metric, difference } : null;
    });
    return [{ name, unit, cells }];
  });
}

/** A bar of a difference reaches its end here. */
const FULL = 0.5;

/** How much of its half a bar fills, 0 to 1, for an error of either sign. */
export const barOf = (error: number): number => Math.min(1, Math.abs(error) / FULL);
