import { useQuery } from "@tanstack/react-query";
import { getAll } from "@/lib/api/http";
import type { Fidelity, Model, Objective, Phase, Precision, Workload } from "@/lib/api/types";

export type RunState = "running" | "same" | "changed" | "regressed" | "failed" | "cancelled";

/** One run of a sweep, in short. */
export interface SweepRunSummary {
  id: string;
  sweep_id: string;
  state: RunState;
  /** "schedule", "late" or "manual". */
  cause: string;
  scheduled_for: string | null;
  baseline_id: string | null;
  explorations: number;
  ended: number;
  builds: { ran: number; cached: number } | null;
  regression_count: number;
  improvement_count: number;
  /** Follows the hypervolume of its fronts over the runs; 1 at the first one. */
  index: number | null;
  tool_versions: Record<string, string>;
  error: string | null;
  accepted: { who: string | null; at: string } | null;
  created_at: string;
  finished_at: string | null;
}

export interface SweepWorkload extends Workload {
  id: string;
  model: Model;
}

/** What the page gives of a new sweep; the service has the rest. */
export interface NewSweep {
  name: string;
  cron: string;
  zone: string;
  enabled: boolean;
  matrix: {
    models: string[];
    phases?: Phase[];
    lengths?: number[];
    precisions?: Precision[];
    platforms: string[];
    seeds: number[];
  };
  options: { budget: number; objectives: string[]; verify: number; tolerance: number };
}

export interface Sweep {
  id: string;
  name: string;
  cron: string;
  /** IANA name. */
  zone: string;
  enabled: boolean;
  next_at: string | null;
  matrix: { workloads: SweepWorkload[]; platforms: string[]; seeds: number[]; samplers: string[] };
  explorations: number;
  webhook: string | null;
  owner: string | null;
  last_run: SweepRunSummary | null;
  /** Stages that no node of the farm would run now; lists do not say. */
  warnings: string[];
  created_at: string;
}

export interface NamedDesign {
  id: string;
  number: number;
}

/** Values are in the order of the exploration's objectives. */
export interface FrontPoint extends NamedDesign {
  objectives: number[];
}

export interface MovedPoint extends NamedDesign {
  before: number[];
  after: number[];
}

/** A front at one fidelity, in the baseline and now. Lists are cut, counts are not. */
export interface FrontChange {
  fidelity: Fidelity;
  before: number;
  after: number;
  hypervolume_before: number;
  hypervolume_after: number;
  change: number | null;
  new: FrontPoint[];
  new_count: number;
  lost: FrontPoint[];
  lost_count: number;
  moved: MovedPoint[];
  moved_count: number;
}

/** Something that is not as it was: a tool's version, an option, the model, a node. */
export interface Change {
  what: string;
  before: string;
  after: string;
  stages: string[];
}

export interface MetricChange {
  slot: string | null;
  design: NamedDesign;
  front: boolean;
  metric: string;
  fidelity: Fidelity;
  unit: string;
  before: number;
  after: number;
  change: number | null;
  worse: boolean | null;
}

export interface Regression {
  slot: string;
  exploration: string;
  kind: "exploration" | "design" | "stage" | "metric" | "hypervolume";
  text: string;
  design: NamedDesign | null;
  stage: string | null;
  metric: string | null;
  fidelity: Fidelity | null;
  unit: string | null;
  before: number | null;
  after: number | null;
  change: number | null;
  causes: Change[];
}

/** One exploration of a run beside its partner in the baseline. */
export interface SlotComparison {
  slot: string;
  state: string;
  exploration: string;
  baseline_exploration: string | null;
  error: string | null;
  result: "new" | "same" | "changed" | "regressed" | "failed" | "cancelled";
  objectives: Objective[];
  fronts: FrontChange[];
  changes: Change[];
  differences: MetricChange[];
  difference_count: number;
}

/** A run with its comparison; the lists are empty until it has ended. */
export interface SweepRun extends SweepRunSummary {
  sweep: string;
  /** As those of the sweep, while it runs. */
  warnings: string[];
  tolerance: number | null;
  regressions: Regression[];
  improvements: MetricChange[];
  slots: SlotComparison[];
}

export const SWEEPS_KEY = ["sweeps"] as const;
const EVERY_MS = 10_000;

export function useSweeps(enabled = true) {
  return useQuery({
    queryKey: SWEEPS_KEY,
    queryFn: ({ signal }) => getAll<Sweep>("/v1/sweeps", signal),
    enabled,
    refetchInterval: EVERY_MS,
  });
}

/** Whether a sweep's last run found something worse that nobody has accepted. */
export const isRed = ({ last_run: run }: Sweep): boolean => run?.state === "regressed" && run.accepted === null;
