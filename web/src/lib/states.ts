import type { BuildState, ExplorationState } from "@/lib/api/types";

const ACTIVE: readonly ExplorationState[] = ["queued", "lowering", "searching", "simulating", "verifying", "building"];
const OPEN: readonly BuildState[] = ["blocked", "queued", "running"];

export function isActive(state: ExplorationState): boolean {
  return ACTIVE.includes(state);
}

/** Whether a build has not come to an end; one without a state has not been made. */
export const isOpen = (state: BuildState | null | undefined): boolean => !!state && OPEN.includes(state);
