import type { Snapshot } from "@/features/pareto/cloud";

interface Props {
  snapshot: Snapshot;
  /** Whether infeasible designs are drawn. */
  infeasible: boolean;
}

/** The marks of the plot; those of rare states only while there is one. */
export function Legend({ snapshot: { points }, infeasible }: Props) {
  const states = new Set(points.map((p) => p.csim));
  const entries: [mark: string, text: string, shown: boolean][] = [
    ["front", "Front", true],
    ["knee", "Knee", true],
    ["feasible", "Feasible", true],
    ["infeasible", "Infeasible", infeasible],
    ["passed", "C sim passed", true],
    ["failed", "C sim failed", states.has("failed")],
    ["running", "C sim running", states.has("running")],
  ];
  return (
    <ul className="legend" aria-label="Legend">
      {entries.map(
        ([mark, text, shown]) =>
          shown && (
            <li key={mark}>
              <i className={`mark mark-${mark}`} />
              {text}
            </li>
          ),
      )}
    </ul>
  );
}
