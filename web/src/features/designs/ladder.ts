import type { Build, DesignStage, Rung } from "@/lib/api/types";
import { parseTime } from "@/lib/format";
import { isOpen } from "@/lib/states";

export const MEANING: Record<DesignStage, string> = {
  simulate: "Cycle simulator",
  csim: "C simulation against the reference",
  csynth: "Synthesis by Vitis HLS",
  cosim: "RTL co-simulation",
  link: "Placed and routed by Vivado and v++",
  measure: "Measured on a board, or on the simulated one",
};

export type Standing = "none" | "waiting" | "running" | "passed" | "failed" | "cancelled";

/** One word for a rung: a build that is done but says no has failed as much as one that could not be run. */
export function standing({ state, passed }: Rung): Standing {
  if (state === null) return "none";
  if (state === "running") return "running";
  if (isOpen(state)) return "waiting";
  if (state === "cancelled") return "cancelled";
  return state === "failed" || passed === false ? "failed" : "passed";
}

/** Seconds that it took, or takes so far. */
export function seconds({ started_at, finished_at }: Rung, now: number): number | null {
  if (!started_at) return null;
  return ((finished_at ? parseTime(finished_at) : now) - parseTime(started_at)) / 1000;
}

export const buildOf = (builds: readonly Build[], rung: Rung): Build | undefined => builds.find((b) => b.id === rung.build_id);

/** Whether a person may ask for the stage: what is under way or has passed is not run again. */
export const mayRun = (rung: Rung): boolean => ["none", "failed", "cancelled"].includes(standing(rung));
