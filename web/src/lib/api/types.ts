/** What the REST interface under /v1 says and takes. Names and units are those of the API. */

export type Phase = "prefill" | "decode" | "step" | "token" | "head";
export type Ports = "f32" | "i8";
export type Precision = "f32" | "w8a8" | "w4a8" | "w8a8kv8" | "w4a8kv8";
export type Sampler = "front" | "nsga2" | "tpe" | "random" | "qmc";
export type Fidelity = "estimate" | "simulate" | "csynth" | "cosim" | "link" | "board";
export type ExplorationState =
  | "queued"
  | "lowering"
  | "searching"
  | "simulating"
  | "verifying"
  | "building"
  | "done"
  | "failed"
  | "cancelled";
export type BuildState = "blocked" | "queued" | "running" | "done" | "failed" | "cancelled";
/** What a person may run of a design, in the order of the ladder. */
export type DesignStage = "simulate" | "csim" | "csynth" | "cosim" | "link" | "measure";
export type Stage = "lower" | "search" | DesignStage | "calibrate";
export type Failure = "infeasible" | "tool" | "licence" | "node" | "timeout" | "limit";
export type Priority = "low" | "normal" | "high";
export type CsimState = "running" | "passed" | "failed";
export type SimulationState = "running" | "done" | "refuted" | "failed";

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
  /** What inputs and results are; "i8" of a network from a file in integers alone. */
  ports: Ports;
}

/** A metric that the search makes small; `best` is what the design with the least of it is called. */
export interface Objective {
  name: string;
  unit: string;
  best: string;
}

/** A design of the front to look at first; `fidelity` is of its latency, which ranked it. */
export interface FrontPick {
  /** "knee", or the `best` of an objective. */
  kind: string;
  design_id: string;
  number: number;
  objectives: number[];
  fidelity: "estimate" | "simulate";
  estimates: number[];
}

/** Designs of a front that the estimate can not tell apart, and the one that stands for them. */
export interface FrontGroup {
  design_id: string;
  number: number;
  /** When to look at it, from 1. */
  rank: number;
  objectives: number[];
  fidelity: "estimate" | "simulate";
  /** From where to where its latency lies by simulation; null while no errors are known. */
  latency_range: [number, number] | null;
  /** The one that stands for them included. */
  members: string[];
}

export interface FrontGroups {
  /** Up to which share objectives count as equal; 0 while no errors are known. */
  error: number;
  groups: FrontGroup[];
}

/** What a design may have: percent of the board, ports and dies by their number, metrics in their unit. */
export type AtMost = Partial<Record<Bounded, number>>;
export type Bounded =
  | "lut"
  | "ff"
  | "dsp"
  | "bram36"
  | "uram"
  | "hbm_ports"
  | "dies"
  | "latency"
  | "energy"
  | "energy_with_idle"
  | "power"
  | "area"
  | "hbm_traffic"
  | "mean_latency"
  | "mean_energy"
  | "prompt_time"
  | "time_per_token"
  | "input_interval"
  | "on_chip_memory";

export interface Exploration {
  id: string;
  /** No two have one name. */
  name: string;
  tags: string[];
  notes: string;
  /** Lists leave it out. */
  archived: boolean;
  /** Nobody can delete it. */
  pinned: boolean;
  model: Model;
  workload: Workload;
  platform: string;
  state: ExplorationState;
  error: string | null;
  budget: number;
  evaluated: number;
  feasible: number;
  front_size: number;
  /** Two or three; the front is sorted by the first. */
  objectives: Objective[];
  seed: number;
  sampler: string;
  islands: number;
  at_most: AtMost;
  /** Designs that went up to the simulator, and how many of those are finished. */
  promoted: number;
  simulated: number;
  /** Null while no design has both latencies. */
  estimate_errors: EstimateErrors | null;
  priority: Priority;
  /** Who started it, null where nobody is asked for a key. */
  owner: string | null;
  sweep_run_id: string | null;
  /** How many designs may go up to each stage that needs Vitis or a board. */
  builds: Partial<Record<ClimbStage, number>>;
  vitis: string | null;
  board: string | null;
  /** Why nothing of it runs; lists do not say. */
  waiting?: string | null;
  /** Stages that no node of the farm would run now; lists do not say. */
  warnings: string[];
  picks: FrontPick[];
  /** How many designs differ in an estimated objective; lists do not say. */
  distinct: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** The stages that have a budget of an exploration. */
export type ClimbStage = "csynth" | "cosim" | "link" | "measure";

/** How far estimated latencies are off the simulated ones; shares, without their sign but for `bias`. */
export interface EstimateErrors {
  n: number;
  median: number;
  p95: number;
  worst: number;
  /** The median of the signed errors: negative where estimates are too low. */
  bias: number;
}

/** What would be deleted with something, and what still needs it. */
export interface Deletion {
  id: string;
  name: string;
  needed: string[];
  designs: number;
  builds: number;
  events: number;
  files: number;
  bytes: number;
}

export interface NewExploration {
  model: string;
  /** Null: made from model and workload. */
  name: string | null;
  tags: string[];
  notes: string;
  /** Refuse it where a stage that it asks for has no node. */
  require_nodes: boolean;
  /** Of a network from a file only the precision: its shapes are its own. */
  workload: Partial<Workload>;
  platform: string;
  budget: number;
  seed: number;
  sampler: Sampler;
  islands: number;
  /** Two or three names of objectives. */
  objectives: string[];
  at_most: AtMost;
  /** How many designs of the front are compiled and simulated. */
  simulate: number;
  /** Feasible designs beside the front that are simulated too, so that the error of the estimate is known there. */
  calibration: number;
  /** How many designs of the front are compiled and compared with the reference. */
  verify: number;
  priority: Priority;
  /** How many designs go up to the stages that need Vitis or a board. */
  builds: Record<ClimbStage, number>;
  /** Null takes the newest that a node offers. */
  vitis: string | null;
  /** Null takes the simulated board. */
  board: string | null;
  area_model: "shipped" | "latest";
}

export interface TaskOverride {
  op: string;
  tile: number | null;
  unroll: number | null;
  order: number[] | null;
  /** Absent in designs of earlier releases. */
  weights?: string | null;
  kernel?: string | null;
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
  engines?: string;
  slices?: number;
  rows?: number;
  loads?: string;
  unrolling?: string;
  weights?: string;
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
  /** Why it refutes the design, in words. */
  refuted: string | null;
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
  /** Lists and pictures leave it out. */
  archived: boolean;
  /** Nobody can delete it. */
  pinned: boolean;
  simulation: SimulationSummary | null;
}

/** Designs by column, in one order. */
export interface Columns {
  id: string[];
  number: number[];
  /** A list for each objective; null where a design can not be built. */
  objectives: (number | null)[][];
  latency_us: (number | null)[];
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

/** One kind of task, compared with its operation (`local`) or with the network (`global`). */
export interface TaskCheck {
  scope: "local" | "global";
  kind: string;
  tasks: number;
  elements: number;
  wrong: number;
  /** The largest difference of what is right, as a share of what is allowed. */
  used: number;
  flipped: number;
}

/** C simulation of the emitted design, compared with the reference. */
export interface Verdict {
  passed: boolean;
  outputs: OutputCheck[];
  tasks_checked: number;
  /** How many tasks the design has, and how each kind of them was checked; verdicts of an earlier release lack both. */
  tasks?: number;
  checks?: TaskCheck[];
  message: string;
  seconds: number;
  /** What computed the expected results; verdicts of an earlier release lack it. */
  reference?: string;
}

/** A run of a build that failed and was tried again. */
export interface Attempt {
  attempt: number;
  failure: Failure;
  error: string;
  node: string | null;
  log_digest: string | null;
  started_at: string | null;
  finished_at: string | null;
}

/** One stage of a workload, an exploration or a design. */
export interface Build {
  id: string;
  exploration_id: string | null;
  design_id: string | null;
  stage: string;
  state: BuildState;
  /** The capability that it waits for, or has. */
  queue: string;
  node: string | null;
  owner: string;
  licence: string | null;
  /** The build whose results it reads. */
  after: string | null;
  /** Why it does not run. */
  waiting: string | null;
  attempt: number;
  losses: number;
  history: Attempt[];
  adopted_from: string | null;
  options: Record<string, unknown>;
  cpus: number;
  memory_gb: number;
  timeout_s: number | null;
  /** Of the C simulation it is a `Verdict`; other stages put other things there. */
  verdict: Record<string, unknown> | null;
  failure: Failure | null;
  error: string | null;
  log_url: string | null;
  live: boolean;
  tool_versions: Record<string, string>;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** A metric at two neighbouring fidelities; `error` is that of the weaker one, relative and signed. */
export interface Difference {
  metric: string;
  unit: string;
  predicted_by: Fidelity;
  predicted: number;
  fidelity: Fidelity;
  value: number;
  error: number | null;
}

/** How a design stands at one stage of the ladder; the fields are null where it has no build of it. */
export interface Rung {
  stage: DesignStage;
  build_id: string | null;
  state: BuildState | null;
  passed: boolean | null;
  failure: Failure | null;
  error: string | null;
  waiting: string | null;
  started_at: string | null;
  finished_at: string | null;
}

export interface Design extends DesignSummary {
  exploration_id: string;
  metrics: Metric[];
  differences: Difference[];
  /** What times of whole replies rest on besides; null where the design makes none. */
  assumed: string | null;
  violations: Violation[];
  ladder: Rung[];
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
  verdict: Pick<Verdict, "passed"> | null;
}

/** Designs that were queued for a stage; the same may come more than once. */
export interface PromotedEvent {
  stage: DesignStage;
  ids: string[];
  calibration: string[];
}

/** The simulator is through with one design. */
export interface SimulatedEvent {
  id: string;
  state: SimulationState;
  latency_us: number | null;
}
