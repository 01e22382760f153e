import type { AtMost, BoundedResource } from "@/lib/api/types";

/** What can be bounded: its name for people, the most that a person may write, and the steps of it. */
export const BOUNDS: [BoundedResource, string, number, number][] = [
  ["lut", "LUT, %", 100, 1],
  ["ff", "FF, %", 100, 1],
  ["dsp", "DSP, %", 100, 1],
  ["bram36", "BRAM36, %", 100, 1],
  ["uram", "URAM, %", 100, 1],
  ["hbm_ports", "HBM ports", 1024, 1],
];

/** "LUT 40 %, HBM ports 8"; empty for all of the board. */
export function boundsText(atMost: AtMost): string {
  return BOUNDS.filter(([name]) => atMost[name] !== undefined)
    .map(([name, label]) => label.replace(", %", "") + ` ${atMost[name]}` + (label.endsWith("%") ? " %" : ""))
    .join(", ");
}
