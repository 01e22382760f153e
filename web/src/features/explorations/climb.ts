import type { Build } from "@/lib/api/types";
import { isOpen } from "@/lib/states";

export type Word = "passed" | "failed" | "running" | "waiting" | "cancelled";

export function wordOf({ state, verdict }: Build): Word {
  if (state === "running") return "running";
  if (isOpen(state)) return "waiting";
  if (state === "cancelled") return "cancelled";
  return state === "failed" || verdict?.["passed"] === false ? "failed" : "passed";
}

/** The newest build of each design; `builds` has the newest first. */
export function newestOf(builds: readonly Build[]): Build[] {
  const seen = new Map<string, Build>();
  for (const build of builds) {
    if (build.design_id !== null && !seen.has(build.design_id)) seen.set(build.design_id, build);
  }
  return [...seen.values()];
}

export function countWords(builds: readonly Build[]): Record<Word, number> {
  const counts: Record<Word, number> = { passed: 0, failed: 0, running: 0, waiting: 0, cancelled: 0 };
  for (const build of builds) counts[wordOf(build)] += 1;
  return counts;
}
