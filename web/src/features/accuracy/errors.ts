import type { EstimateErrors } from "@/lib/api/types";
import { errorInWords, estimateError } from "@/lib/estimate";
import { number, percent } from "@/lib/format";

/** A design with its latency by the estimate, and by the simulator where it is known. */
export interface Pair {
  id: string;
  number: number;
  estimate: number;
  simulated: number | null;
}

/** `error`: how far the estimate is off, as a share of what the simulator says. */
export interface DesignError extends Pair {
  simulated: number;
  error: number;
}

/** The designs that have both latencies, the most underestimated first. */
export function errorsOf(pairs: readonly Pair[]): DesignError[] {
  return pairs
    .flatMap(({ id, number, estimate, simulated }) =>
      simulated !== null && simulated > 0 && estimate > 0
        ? [{ id, number, estimate, simulated, error: estimateError(estimate, simulated) }]
        : [],
    )
    .sort((a, b) => a.error - b.error || a.number - b.number);
}

/** What the service says of them all, in words. */
export function inWords({ n, median, p95, worst, bias }: EstimateErrors): string {
  if (n === 1) return `One design was simulated: its estimate is ${errorInWords(bias)}.`;
  const most = p95 < worst ? `, 95 % within ${percent(p95)}` : "";
  const sizes = `half of them are within ${percent(median)}${most}, all within ${percent(worst)}`;
  return `${number(n)} designs were simulated. In the median their estimates are ${errorInWords(bias)}; ${sizes}.`;
}
