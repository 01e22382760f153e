/** A design by its objectives. */
export interface Placed {
  readonly number: number;
  readonly latency: number;
  readonly energy: number;
}

/** What no other one beats, sorted by latency; of equal ones the first that was evaluated stays. */
export function unbeaten<P extends Placed>(points: readonly P[]): P[] {
  const sorted = [...points].sort((a, b) => a.latency - b.latency || a.energy - b.energy || a.number - b.number);
  const front: P[] = [];
  for (const point of sorted) {
    if (point.energy < (front.at(-1)?.energy ?? Infinity)) front.push(point);
  }
  return front;
}
