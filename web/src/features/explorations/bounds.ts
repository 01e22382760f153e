import type { AtMost, Bounded } from "@/lib/api/types";

export interface Bound {
  readonly name: Bounded;
  readonly label: string;
  /** Nothing of what is counted. */
  readonly unit: string;
  /** The most that a person may write. */
  readonly most?: number;
  /** Of what is whole. */
  readonly step: number | "any";
}

const share = (name: Bounded, label: string): Bound => ({ name, label, unit: "%", most: 100, step: "any" });
const metric = (name: Bounded, label: string, unit: string): Bound => ({ name, label, unit, step: "any" });

/** What can be bounded, as `dse.at_most.BOUNDED`. */
export const BOUNDS: readonly Bound[] = [
  share("lut", "LUT"),
  share("ff", "FF"),
  share("dsp", "DSP"),
  share("bram36", "BRAM36"),
  share("uram", "URAM"),
  { name: "hbm_ports", label: "HBM ports", unit: "", most: 1024, step: 1 },
  { name: "dies", label: "Dies", unit: "", most: 1, step: 1 },
  metric("latency", "Latency", "µs"),
  metric("energy", "Energy", "µJ"),
  metric("energy_with_idle", "Energy with idle", "µJ"),
  metric("power", "Power", "W"),
  share("area", "Area"),
  metric("hbm_traffic", "HBM traffic", "bytes"),
  metric("mean_latency", "Mean latency", "µs"),
  metric("mean_energy", "Mean energy", "µJ"),
  metric("prompt_time", "Prompt time", "µs"),
  metric("time_per_token", "Time per token", "ms"),
  metric("input_interval", "Input interval", "µs"),
  metric("on_chip_memory", "On-chip memory", "bytes"),
];

/** "LUT 40 %, HBM ports 8"; empty for all of the board. */
export function boundsText(atMost: AtMost): string {
  return BOUNDS.filter(({ name }) => atMost[name] !== undefined)
    .map(({ name, label, unit }) => `${label} ${atMost[name]} ${unit}`.trim())
    .join(", ");
}
