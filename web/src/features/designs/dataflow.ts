/** What the page of a design shows of its dataflow.json; fields are named as in that file (bytes, wires). */

import { number } from "@/lib/format";

export interface Converter {
  realisation: { kind: string };
  /** Of the buffer as it is built, by the rule of the paper, and the least that can do. */
  bytes: number;
  paper_bytes: number;
  exact_bytes: number;
}

export interface Shortfall {
  subject: string;
  resource: string;
  demand: number;
  bound: number;
  levers: string[];
}

/** A value that goes through HBM from one kernel to others; no reason: nothing but the plan cuts it. */
export interface Cut {
  value: string;
  source: number;
  targets: number[];
  bytes: number;
  reason: Shortfall | null;
  levers: string[];
}

export interface Fusion {
  plan: string;
  kernels: number;
  external_bytes: number;
  greedy_bytes: number;
  fused_bytes: number;
  cuts: Cut[];
  summary: string;
}

export interface Boundary {
  lower: string;
  upper: string;
  wires: number;
  available: number;
}

/** `registered`: how many of its ends are, of 2; designs of an earlier release do not say. */
export interface Crossing {
  name: string;
  source: string;
  target: string;
  wires: number;
  registered?: number;
}

export interface Placement {
  slr: Record<string, string>;
  crossings: Crossing[];
  boundaries: Boundary[];
  use: Record<string, Record<string, number>>;
  method: string;
  gap: number;
  shortfalls: Shortfall[];
}

/** One nest of a task, or what it repeats. */
export type Part = { trips: number[] } | { times: number; body: Part[] };

export interface Task {
  name: string;
  kind: string;
  kernel: number;
  converter: Converter | null;
  /** Only of tasks that have more than one nest; `served` and `slice` only of engines. */
  turns?: Part[];
  served?: { op: string }[];
  slice?: { number: number; of: number };
}

export interface DataflowStream {
  name: string;
  source: string;
  target: string;
  depth: number;
  width: number;
  kind: string | null;
  /** Only of streams that lead back, or that hold tokens when a launch begins. */
  initial?: number;
  feedback?: boolean;
}

export interface Dataflow {
  kernels: number;
  tasks: Task[];
  streams: DataflowStream[];
  /** Designs that were compiled by an earlier release have neither. */
  fusion?: Fusion;
  placement?: Placement;
}

export interface ConverterRow extends Converter {
  name: string;
}

/** The converters of a design, the largest first. */
export function convertersOf({ tasks }: Dataflow): ConverterRow[] {
  return tasks
    .flatMap(({ name, converter }) => (converter ? [{ ...converter, name: name.replace(/^convert_/, "") }] : []))
    .sort((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name));
}

export interface EngineRow {
  name: string;
  slices: number;
  /** Operations in the order of their turns, and in how many iterations each is done. */
  turns: { op: string; iterations: number }[];
}

/** Engines, each once however many slices it has. */
export function enginesOf({ tasks }: Dataflow): EngineRow[] {
  return tasks
    .filter(({ served, slice }) => served && (slice?.number ?? 0) === 0)
    .map(({ name, served = [], turns = [], slice }) => ({
      name: name.replace(/_slice0$/, ""),
      slices: slice?.of ?? 1,
      turns: served.map(({ op }, n) => ({ op, iterations: iterationsOf(turns[n]) })),
    }));
}

function iterationsOf(part: Part | undefined): number {
  if (part === undefined) return 0;
  if ("trips" in part) return part.trips.reduce((product, trip) => product * trip, 1);
  return part.times * part.body.reduce((sum, inner) => sum + iterationsOf(inner), 0);
}

/** Streams that close a loop, or hold tokens when a launch begins. */
export const loopsOf = ({ streams }: Dataflow): DataflowStream[] => streams.filter((s) => s.feedback || s.initial);

/** How many streams and ports cross between dies, and of how many both ends are registered. */
export function crossingsText({ crossings }: Placement): string {
  const text = `Streams and ports between dies: ${number(crossings.length)}`;
  const registered = crossings.filter((crossing) => crossing.registered === 2).length;
  return crossings.some((crossing) => crossing.registered !== undefined) ? `${text}, ${number(registered)} registered at both ends` : text;
}

export type ByteColumn = "bytes" | "paper_bytes" | "exact_bytes";

export const totalOf = (rows: readonly Converter[], column: ByteColumn): number =>
  rows.reduce((sum, row) => sum + row[column], 0);

export interface StackedUse {
  resource: string;
  total: number;
  /** Use of each die in the order of `dies`, as a share of what the whole bar stands for. */
  shares: number[];
}

export const diesOf = ({ use }: Placement): string[] => Object.keys(use).sort();

/** One bar a resource, stacked by die; as long as its budget, or as its use where that is more or not known. */
export function stackedUse(placement: Placement, budgets: Record<string, number> = {}): StackedUse[] {
  const dies = diesOf(placement);
  const resources = Object.keys(placement.use[dies[0] ?? ""] ?? {});
  return resources.map((resource) => {
    const used = dies.map((die) => placement.use[die]?.[resource] ?? 0);
    const total = used.reduce((sum, value) => sum + value, 0);
    const length = Math.max(total, budgets[resource] ?? 0) || 1;
    return { resource, total, shares: used.map((value) => value / length) };
  });
}

/** How many tasks lie on each die, in the order of `diesOf`. */
export function tasksByDie(placement: Placement): number[] {
  const placed = Object.values(placement.slr);
  return diesOf(placement).map((die) => placed.filter((slr) => slr === die).length);
}

/** "a kernel needs 5,000 of 4,096 converter bytes": what kept a value from staying on chip. */
export function shortfallText({ subject, resource, demand, bound }: Shortfall): string {
  const count = (value: number) => Math.round(value).toLocaleString("en-US");
  return `${subject} needs ${count(demand)} of ${count(bound)} ${resource.replaceAll("_", " ")}`;
}
