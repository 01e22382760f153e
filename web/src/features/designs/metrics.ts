import type { Fidelity, Metric } from "@/lib/api/types";

/** How the metrics of a design are named and grouped for reading. */

export const AREA = ["lut", "ff", "dsp", "bram36", "uram", "hbm_ports"] as const;
export const HBM_BANDWIDTH = "hbm_bandwidth";
/** The group of what replies take. */
export const REPLY = "Whole reply";

interface Group {
  title: string;
  names: readonly string[];
}

export const GROUPS: readonly Group[] = [
  { title: "Latency", names: ["latency", "first_latency", "mean_latency", "prompt_time", "input_interval", "inputs_per_second", "kernel_time", "cycles", "total_cycles", "interval", "slowest_ii", "clock"] },
  { title: "Energy and power", names: ["energy", "mean_energy", "energy_with_idle", "power", "power_dynamic", "power_static"] },
  {
    title: REPLY,
    names: ["tokens_per_second", "time_per_token", "first_token_time", "reply_time", "energy_per_token", "hbm_share", "kernel_start"],
  },
  { title: "Memory", names: ["hbm_traffic", "first_traffic", "memory_read", "memory_write", "on_chip_memory"] },
  {
    title: "Clock, placing and routing",
    names: [
      "clock_requested",
      "fmax",
      "worst_slack",
      "total_slack",
      "failing_endpoints",
      "qor_score",
      "sll",
      "sll_share",
      "slr_lut_share",
      "slr_bram36_share",
      "slr_dsp_share",
    ],
  },
  { title: "Structure", names: ["area", "kernels", "tasks", "converters"] },
];

const LABELS: Record<string, string> = {
  latency: "Latency",
  first_latency: "Launch that fills memories",
  kernel_time: "Kernel time",
  cycles: "Cycles",
  total_cycles: "Cycles of all calls",
  interval: "Interval",
  slowest_ii: "Slowest II",
  clock: "Clock",
  clock_requested: "Clock asked for",
  fmax: "Clock by HLS",
  worst_slack: "Worst slack",
  total_slack: "Total negative slack",
  failing_endpoints: "Failing endpoints",
  qor_score: "QoR score",
  sll: "Lines between dies",
  sll_share: "Lines of the fullest boundary",
  slr_lut_share: "LUT of the fullest die",
  slr_bram36_share: "BRAM36 of the fullest die",
  slr_dsp_share: "DSP of the fullest die",
  energy: "Energy above idle",
  energy_with_idle: "Energy with idle",
  power: "Mean power",
  power_dynamic: "Dynamic power",
  power_static: "Static power",
  area: "Largest share of a resource",
  lut: "LUT",
  ff: "FF",
  dsp: "DSP",
  bram36: "BRAM36",
  uram: "URAM",
  hbm_ports: "HBM ports",
  lut_guessed: "LUT by guessed operators",
  hbm_traffic: "HBM traffic",
  first_traffic: "HBM traffic, filling memories",
  hbm_bandwidth: "HBM, GB/s",
  memory_read: "Read from HBM",
  memory_write: "Written to HBM",
  mean_latency: "Latency, mean of positions",
  mean_energy: "Energy, mean of positions",
  prompt_time: "A token of a prompt",
  tokens_per_second: "Tokens a second",
  time_per_token: "Time per token",
  first_token_time: "First token after",
  reply_time: "Whole reply",
  energy_per_token: "Energy per token",
  hbm_share: "Share of the HBM bound",
  kernel_start: "Start of a kernel",
  input_interval: "From input to input",
  inputs_per_second: "Inputs a second, launch of all",
  on_chip_memory: "On-chip memory",
  kernels: "Kernels",
  tasks: "Tasks",
  converters: "Converters",
};

/** Units that repeat the name of the metric say nothing. */
const SILENT_UNITS = new Set([
  ...["kernels", "tasks", "converters", "ports", "LUT", "FF", "DSP", "BRAM36", "URAM"],
  ...["endpoints", "lines", "instructions"],
]);

export function label(name: string): string {
  return LABELS[name] ?? name.replaceAll("_", " ");
}

export const shownUnit = (unit: string) => (SILENT_UNITS.has(unit) ? "" : unit);

export const RANK: Record<Fidelity, number> = { estimate: 0, simulate: 1, csynth: 2, cosim: 3, link: 4, board: 5 };

/** The metrics called `name`, weakest fidelity first. */
export function valuesOf(metrics: readonly Metric[], name: string): Metric[] {
  return metrics.filter((m) => m.name === name).sort((a, b) => RANK[a.fidelity] - RANK[b.fidelity]);
}

/** The value of the strongest fidelity. */
export function strongest(metrics: readonly Metric[], name: string): Metric | undefined {
  return valuesOf(metrics, name).at(-1);
}

/** Names that no group mentions, so that a new metric is never hidden. */
export function otherNames(metrics: readonly Metric[]): string[] {
  const known = new Set<string>([...AREA, HBM_BANDWIDTH, ...GROUPS.flatMap((g) => g.names)]);
  return [...new Set(metrics.map((m) => m.name))].filter((name) => !known.has(name)).sort();
}
