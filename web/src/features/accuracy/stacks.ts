import type { DesignError } from "@/features/accuracy/errors";

const BINS = 56;
/** The axis shows at least this much to both sides of zero, so that small errors look small. */
const LEAST = 0.05;

export interface Dot {
  error: DesignError;
  /** From the left end to the right, 0 to 1; and how many dots lie below it. */
  x: number;
  level: number;
}

export interface Stacks {
  low: number;
  high: number;
  dots: Dot[];
  /** Dots of the tallest stack. */
  tallest: number;
}

/** One dot a design, on top of those that have about the same error. */
export function stacks(errors: readonly DesignError[]): Stacks {
  const values = errors.map((e) => e.error);
  const [least, most] = [Math.min(-LEAST, ...values), Math.max(LEAST, ...values)];
  const air = (most - least) * 0.04;
  const [low, high] = [least - air, most + air];
  const levels = new Map<number, number>();
  const dots = errors.map((error) => {
    const bin = Math.min(BINS - 1, Math.floor(((error.error - low) / (high - low)) * BINS));
    const level = levels.get(bin) ?? 0;
    levels.set(bin, level + 1);
    return { error, x: (bin + 0.5) / BINS, level };
  });
  return { low, high, dots, tallest: Math.max(0, ...levels.values()) };
}

/** Where `value` lies between the ends, 0 to 1. */
export const placeOf = (value: number, { low, high }: Stacks): number => Math.min(1, Math.max(0, (value - low) / (high - low)));
