/** What a node can do, one entry a stage. */
export interface Capability {
  stage: string;
  /** What comes after the @: versions of Vitis, platforms, boards. */
  variants: string[];
  /** "g++ 12.2.0, millrace 0.1.0". */
  tools: string;
}

const ORDER = ["lower", "search", "simulate", "csim", "csynth", "cosim", "link", "measure", "calibrate"];
const rank = (stage: string): number => (ORDER.includes(stage) ? ORDER.indexOf(stage) : ORDER.length);

/** `queues`: tool versions by queue. */
export function capabilitiesOf(queues: Record<string, Record<string, string>>): Capability[] {
  const found = new Map<string, Capability>();
  for (const [queue, tools] of Object.entries(queues)) {
    const [stage = queue, ...rest] = queue.split("@");
    const known = found.get(stage) ?? { stage, variants: [], tools: "" };
    const variants = rest.length ? [...known.variants, rest.join("@")] : known.variants;
    const named = Object.entries(tools).map(([tool, version]) => `${tool} ${version}`);
    const all = new Set([...known.tools.split(", ").filter(Boolean), ...named]);
    found.set(stage, { stage, variants: variants.sort(), tools: [...all].join(", ") });
  }
  return [...found.values()].sort((a, b) => rank(a.stage) - rank(b.stage) || a.stage.localeCompare(b.stage));
}

/** "2023.2:xilinx_u55c_gen3x16_xdma_3_202210_1" -> "2023.2 u55c"; anything else as it is. */
export const shortVariant = (variant: string): string => {
  const shell = /^(?:(.*):)?xilinx_([a-z0-9]+)_/.exec(variant);
  return shell ? [shell[1], shell[2]].filter(Boolean).join(" ") : variant;
};
