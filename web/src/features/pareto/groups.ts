import type { Point } from "@/features/pareto/cloud";
import type { FrontGroup } from "@/lib/api/types";

/** A design of the front with those that the estimate can not tell from it. */
export interface Alike {
  readonly point: Point;
  readonly others: readonly Point[];
  /** What the service says of them; null of a design that it has not grouped yet. */
  readonly group: FrontGroup | null;
}

/** The front in its order, each group as the design that stands for it. What the service does not know stands alone. */
export function alike(front: readonly Point[], groups: readonly FrontGroup[]): Alike[] {
  const ids = new Set(front.map((p) => p.id));
  const known = new Map<string, FrontGroup>();
  for (const group of groups) {
    if (ids.has(group.design_id)) group.members.forEach((id) => known.set(id, group));
  }
  const stands = ({ id }: Point) => known.get(id)?.design_id ?? id;
  const found = new Map(front.filter((p) => stands(p) === p.id).map((p) => [p.id, { point: p, others: [] as Point[], group: known.get(p.id) ?? null }]));
  for (const point of front) {
    if (stands(point) !== point.id) found.get(stands(point))?.others.push(point);
  }
  return [...found.values()];
}
