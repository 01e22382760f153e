import { FidelityBadge } from "@/components/badges";
import type { Snapshot } from "@/features/pareto/cloud";
import type { Alike } from "@/features/pareto/groups";
import { type Shown, isSimulated } from "@/features/pareto/fidelity";
import type { Objective } from "@/lib/api/types";
import type { Axes } from "@/lib/front";
import { title } from "@/lib/objectives";

interface Props {
  snapshot: Snapshot;
  groups: readonly Alike[];
  objectives: readonly Objective[];
  axes: Axes;
  /** Whether infeasible designs are drawn. */
  infeasible: boolean;
  shown: Shown;
}

/** The marks of the plot; those of rare states only while there is one. */
export function Legend({ snapshot: { points }, groups, objectives, axes, infeasible, shown }: Props) {
  const states = new Set(points.map((p) => p.csim));
  const entries: [mark: string, text: string, visible: boolean][] = [
    ["front", "Front", true],
    ["alike", "Alike, by the estimate", groups.some((group) => group.others.length > 0)],
    ["knee", "Knee", true],
    ["feasible", "Feasible", true],
    ["infeasible", "Infeasible", infeasible],
    ["passed", "C sim passed", true],
    ["failed", "C sim failed", states.has("failed")],
    ["running", "C sim running", states.has("running")],
    [`other-${shown}`, shown === "estimate" ? "Same design, simulated" : "Same design, estimated", points.some(isSimulated)],
  ];
  return (
    <ul className="legend" aria-label="Legend">
      {objectives.map(({ name }, i) => (
        <li key={name}>
          {title(name)} <FidelityBadge fidelity={name === "latency" ? shown : "estimate"} />
          {axes.includes(i) ? null : <small className="inline">as size</small>}
        </li>
      ))}
      {entries.map(
        ([mark, text, visible]) =>
          visible && (
            <li key={mark}>
              <i className={`mark mark-${mark}`} />
              {text}
            </li>
          ),
      )}
    </ul>
  );
}
