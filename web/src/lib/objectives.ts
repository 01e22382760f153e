import type { Objective, Phase } from "@/lib/api/types";

/** What a search can make small, as `dse.objectives` has it. */
export const OBJECTIVES = [
  "latency", "energy", "area", "energy_with_idle", "power", "lut", "ff", "dsp", "bram36", "uram", "hbm_ports",
  "hbm_traffic", "mean_latency", "mean_energy", "prompt_time", "time_per_token", "input_interval", "on_chip_memory",
] as const;

/** What one has that is started without a choice. */
export const DEFAULT: readonly string[] = ["latency", "energy"];

const ABBREVIATIONS = new Set(["lut", "ff", "dsp", "bram36", "uram", "hbm"]);

/** The same in a phase. */
export const usual = (phase?: Phase): readonly string[] => (phase === "token" ? [...DEFAULT, "prompt_time"] : DEFAULT);

/** Whether they are others than without a choice. */
export const isChosen = (objectives: readonly Objective[]): boolean => objectives.map(({ name }) => name).join() !== DEFAULT.join();

/** "hbm_ports" -> "HBM ports". */
export function title(name: string): string {
  const text = name.split("_").map((word) => (ABBREVIATIONS.has(word) ? word.toUpperCase() : word)).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "latency, energy and area". */
export function inWords(objectives: readonly Objective[], conjunction = "and"): string {
  const names = objectives.map(({ name }) => title(name)).map((text) => (/^[A-Z]{2}/.test(text) ? text : text.toLowerCase()));
  const last = names.pop() ?? "";
  return names.length ? `${names.join(", ")} ${conjunction} ${last}` : last;
}

/** The place of the one that simulation knows better; -1 where the search has others. */
export const latencyAt = (objectives: readonly Objective[]): number => objectives.findIndex(({ name }) => name === "latency");
