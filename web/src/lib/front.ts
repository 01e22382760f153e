/** A design by its objectives, all to be small. */
export interface Placed {
  readonly number: number;
  readonly objectives: readonly number[];
}

/** Two of the objectives by their places: what a picture shows. */
export type Axes = readonly [number, number];

function compare(a: Placed, b: Placed): number {
  const at = a.objectives.findIndex((value, i) => value !== b.objectives[i]);
  return at < 0 ? a.number - b.number : (a.objectives[at] ?? 0) - (b.objectives[at] ?? 0);
}

const covers = (a: readonly number[], b: readonly number[]) => a.every((value, i) => value <= (b[i] ?? 0));

/** What no other one beats, sorted by the first objective; of equal ones the first that was evaluated stays. */
export function unbeaten<P extends Placed>(points: readonly P[]): P[] {
  const front: P[] = [];
  for (const point of [...points].sort(compare)) {
    if (!front.some((other) => covers(other.objectives, point.objectives))) front.push(point);
  }
  return front;
}

/** Those of a front that no other beats in the two objectives that are shown, from left to right: of two, all. */
export function border<P extends Placed>(front: readonly P[], [x, y]: Axes): P[] {
  const shown = front.map((point) => ({ point, number: point.number, objectives: [point.objectives[x] ?? 0, point.objectives[y] ?? 0] }));
  return unbeaten(shown).map(({ point }) => point);
}
