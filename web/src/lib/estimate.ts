import { percent } from "@/lib/format";

/** Errors below this are none to a reader. */
const LEAST = 0.0005;

/** As a share of the better value, which is not 0: -0.05 is an estimate that is 5 % below it. As in the API. */
export const estimateError = (estimate: number, better: number): number => (estimate - better) / better;

/** -0.05 -> "5.0 % too low": of an estimate. */
export function errorInWords(error: number): string {
  if (Math.abs(error) < LEAST) return "exact";
  return `${percent(Math.abs(error))} too ${error < 0 ? "low" : "high"}`;
}
