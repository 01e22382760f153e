import type { ExplorationState } from "@/lib/api/types";

const ACTIVE: readonly ExplorationState[] = ["queued", "lowering", "searching", "simulating", "verifying"];

export function isActive(state: ExplorationState): boolean {
  return ACTIVE.includes(state);
}
