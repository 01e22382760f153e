/** What the REST interface under /v1 says and takes. Names and units are those of the API. */

export type Phase = "prefill" | "decode";
export type Precision = "f32" | "w8a8" | "w4a8";
export type Sampler = "nsga2" | "tpe" | "random" | "qmc";
export type Fidelity = "estimate" | "simulate" | "csynth" | "cosim" | "board";
export type ExplorationState =
  | "queued"
  | "lowering"
  | "searching"
  | "verifying"
  | "done"
  | "failed"
  | "cancelled";
export type BuildState = "queued" | "running" | "done" | "failed" | "cancelled";
export type CsimState = "running" | "passed" | "failed";

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** RFC 9457 problem document. */
export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
}

export interface Platform {
  name: string;
  title: string;
  part: string;
  /** What a design may use of each resource: the part less what the shell takes. */
  budgets: Record<string, number>;
  hbm: { channels: number; channel_gb_s: number };
  clock_mhz: number;
}

export interface Model {
  id: string;
  name: string;
  /** "builtin", "config", or the format of a file that holds a whole network: "onnx", "mlir", "pt2". */
  kind: string;
}

export interface Workload {
  phase: Phase;
  length: number;
  batch: number;
  precision: Precision;
  layers: number;
}

export interface Exploration {
  id: string;
  model: Model;
  workload: Workload;
  platform: string;
  state: ExplorationState;
  error: string | null;
  budget: number;
  evaluated: number;
  feasible: number;
  front_size: number;
  seed: number;
  sampler: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface NewExploration {
  model: string;
  /** Of a network from a file only the precision: its shapes are its own. */
  workload: Partial<Workload>;
  platform: string;
  budget: number;
  seed: number;
  sampler: Sampler;
  /** How many designs of the front are compiled and compared with the reference. */
  verify: number;
}

export interface TaskOverride {
  op: string;
  tile: number | null;
  unroll: number | null;
  order: number[] | null;
}

export interface Knobs {
  default_tile_size: number;
  overall_unroll: number;
  order: string;
  overrides: TaskOverride[];
  fusion_budget: number;
  fifo: string;
  hbm_channels: number;
  stream_width: number;
  multiplier: string;
  /** Designs of an earlier release lack these. */
  fusion_plan?: string;
  prefetch_kib?: number;
  max_padding?: number;
  converters?: string;
}

export interface DesignSummary {
  id: string;
  number: number;
  on_front: boolean;
  feasible: boolean;
  latency_us: number | null;
  energy_uj: number | null;
  /** Why the design can not be built, when it has no objectives. */
  reason: string | null;
  knobs: Knobs;
}

/** Designs by column, in one order. */
export interface Columns {
  id: string[];
  number: number[];
  latency_us: (number | null)[];
  energy_uj: (number | null)[];
  feasible: boolean[];
  on_front: boolean[];
  csim: (CsimState | null)[];
}

export interface Metric {
  name: string;
  value: number;
  unit: string;
  fidelity: Fidelity;
  tool: string;
  tool_version: string;
  build_id: string | null;
}

export interface Violation {
  resource: string;
  demand: number;
  bound: number;
}

export interface OutputCheck {
  name: string;
  /** Null when an output holds what is no number. */
  max_abs_error: number | null;
  max_rel_error: number | null;
  tolerance: number;
  passed: boolean;
}

/** C simulation of the emitted design, compared with the reference. */
export interface Verdict {
  passed: boolean;
  outputs: OutputCheck[];
  tasks_checked: number;
  integer_mismatches: number;
  message: string;
  seconds: number;
  /** What computed the expected results; verdicts of an earlier release lack it. */
  reference?: string;
}

export interface Build {
  id: string;
  design_id: string | null;
  stage: string;
  state: BuildState;
  verdict: Verdict | null;
  log_url: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
}

export interface Design extends DesignSummary {
  exploration_id: string;
  metrics: Metric[];
  violations: Violation[];
  builds: Build[];
  dataflow_available: boolean;
}

export interface Artifact {
  path: string;
  size: number;
  digest: string;
  media_type: string;
  url: string;
}

export interface StateEvent {
  state: ExplorationState;
  error: string | null;
}

export interface BuildEvent {
  design_id: string | null;
  stage: string;
  state: BuildState;
  verdict: Verdict | null;
}
