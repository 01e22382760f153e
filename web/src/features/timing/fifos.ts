import type { FifoRun } from "@/features/timing/simulation";

/** What the compiler says of a stream, in its dataflow.json: bits of a token, and the memory that holds it. */
export interface StreamSpec {
  name: string;
  width: number;
  kind: string | null;
}

export interface FifoRow extends FifoRun {
  /** Bits, null where dataflow.json does not know the stream. */
  width: number | null;
  memory: string | null;
  /** Peak over depth. */
  used: number;
}

const MEMORIES: Record<string, string> = { registers: "SRL", lutram: "LUTRAM", bram: "BRAM", uram: "URAM" };

/** The FIFOs of a simulation with what the compiler knows of them. */
export function fifoRows(fifos: readonly FifoRun[], streams: readonly StreamSpec[]): FifoRow[] {
  const specs = new Map(streams.map((s) => [s.name, s]));
  return fifos.map((fifo) => {
    const spec = specs.get(fifo.name);
    const memory = spec?.kind ? (MEMORIES[spec.kind] ?? spec.kind) : null;
    return { ...fifo, width: spec?.width ?? null, memory, used: fifo.depth > 0 ? fifo.peak / fifo.depth : 0 };
  });
}

export type FifoColumn = "name" | "width" | "depth" | "peak" | "used" | "memory" | "full" | "empty" | "reason";
export interface Order {
  column: FifoColumn;
  descending: boolean;
}

/** The deep ones first: they are what FIFOs cost. */
export const FIRST_ORDER: Order = { column: "depth", descending: true };

export const isText = (column: FifoColumn): boolean => column === "name" || column === "memory" || column === "reason";

/** Texts rise and numbers fall at first; the same column again turns the order round. */
export function nextOrder(order: Order, column: FifoColumn): Order {
  if (order.column === column) return { column, descending: !order.descending };
  return { column, descending: !isText(column) };
}

const compare = (a: string | number | null, b: string | number | null): number => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""));
};

export function sorted(rows: readonly FifoRow[], { column, descending }: Order): FifoRow[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(a[column], b[column]) || a.name.localeCompare(b.name));
}
