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

/**
 * What no other one beats, of two or three objectives, sorted by the first; of equal ones the first that was evaluated
 * stays. In this order no later one beats an earlier one, so that the last two objectives say what is beaten: `steps`
 * are those that none beats in these, by the one, so that the other falls.
 */
export function unbeaten<P extends Placed>(points: readonly P[]): P[] {
  const steps: [number, number][] = [];
  return [...points].sort(compare).filter(({ objectives }) => {
    const [x, y] = objectives.slice(-2) as [number, number];
    const after = placeOf(steps, x);
    if ((steps[after - 1]?.[1] ?? Infinity) <= y) return false;
    const start = steps[after - 1]?.[0] === x ? after - 1 : after;
    let stop = after;
    while ((steps[stop]?.[1] ?? -Infinity) >= y) stop += 1;
    steps.splice(start, stop - start, [x, y]);
    return true;
  });
}

/** How many of the steps are at `x` or before it. */
function placeOf(steps: readonly [number, number][], x: number): number {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.[0] ?? 0) <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Those of a front that no other beats in the two objectives that are shown, from left to right: of two, all. */
export function border<P extends Placed>(front: readonly P[], [x, y]: Axes): P[] {
  const shown = front.map((point) => ({ point, number: point.number, objectives: [point.objectives[x] ?? 0, point.objectives[y] ?? 0] }));
  return unbeaten(shown).map(({ point }) => point);
}
