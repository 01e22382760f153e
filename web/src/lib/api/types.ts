/** What the REST interface under /v1 says and takes. Names and units are those of the API. */

export type Phase = "prefill" | "decode";
export type Precision = "f32" | "w8a8" | "w4a8";
export type Sampler = "nsga2" | "tpe" | "random" | "qmc";
export type Fidelity = "estimate" | "simulate" | "csynth" | "cosim" | "link" | "board";
export type ExplorationState =
  | "queued"
  | "lowering"
  | "searching"
  | "simulating"
  | "verifying"
  | "done"
  | "failed"
  | "cancelled";
export type BuildState = "queued" | "running" | "done" | "failed" | "cancelled";
export type CsimState = "running" | "passed" | "failed";
export type SimulationState = "running" | "done" | "deadlock" | "failed";

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
  /** Designs that went up to the simulator, and how many of those are finished. */
  promoted: number;
  simulated: number;
  /** Null while no design has both latencies. */
  estimate_errors: EstimateErrors | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** How far estimated latencies are off the simulated ones; shares, without their sign but for `bias`. */
export interface EstimateErrors {
  n: number;
  median: number;
  p95: number;
  worst: number;
  /** The median of the signed errors: negative where estimates are too low. */
  bias: number;
}

export interface NewExploration {
  model: string;
  /** Of a network from a file only the precision: its shapes are its own. */
  workload: Partial<Workload>;
  platform: string;
  budget: number;
  seed: number;
  sampler: Sampler;
  /** How many designs of the front are compiled and simulated. */
  simulate: number;
  /** Feasible designs beside the front that are simulated too, so that the error of the estimate is known there. */
  calibration: number;
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
  pipeline_style?: string;
}

/** A value outside what is physically possible. */
export interface Flag {
  metric: string;
  fidelity: Fidelity;
  value: number;
  bound: number;
  unit: string;
  text: string;
}

/** The newest build of a design in the cycle simulator. */
export interface SimulationSummary {
  state: BuildState;
  latency_us: number | null;
  /** Why it deadlocks, in words. */
  deadlock: string | null;
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
  flags: Flag[];
  simulation: SimulationSummary | null;
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
  /** Latency by the simulator, and how far that is; null throughout in events, those of an earlier release lack both. */
  simulated_us?: (number | null)[];
  simulation?: (SimulationState | null)[];
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
  /** Of the C simulation; other stages put other things there. */
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
  simulation_available: boolean;
  /** The whole design directory is stored. */
  archive_available: boolean;
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

/** Designs that were queued for the simulator; the same may come more than once. */
export interface PromotedEvent {
  ids: string[];
  calibration: string[];
}

/** The simulator is through with one design. */
export interface SimulatedEvent {
  id: string;
  state: SimulationState;
  latency_us: number | null;
}
