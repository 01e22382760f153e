import { useMemo } from "react";
import { DotPlot } from "@/features/accuracy/DotPlot";
import { ErrorTable } from "@/features/accuracy/ErrorTable";
import { type Pair, errorsOf, inWords } from "@/features/accuracy/errors";
import type { EstimateErrors } from "@/lib/api/types";

interface Props {
  points: readonly Pair[];
  front: readonly Pair[];
  /** What the service says of all errors together; null before a design has both latencies. */
  summary: EstimateErrors | null;
  selected: string | null;
  onSelect(id: string): void;
}

const MARKS = [
  ["error-front", "On the front"],
  ["error-beside", "Beside the front"],
  ["error-median", "Median"],
  ["error-band", "95 % of the estimates"],
] as const;

/** How far the estimates of this exploration are off the simulator; nothing before a design has both. */
export function EstimateError({ points, front, summary, selected, onSelect }: Props) {
  const errors = useMemo(() => errorsOf(points), [points]);
  const onFront = useMemo(() => new Set(front.map((p) => p.id)), [front]);
  if (!errors.length || !summary) return null;
  return (
    <section className="card panel" aria-label="Error of the estimates" data-testid="estimate-error">
      <h2>Error of the estimates</h2>
      <p className="hint">{inWords(summary)}</p>
      <ul className="legend">
        {MARKS.map(([mark, text]) => (
          <li key={mark}>
            <i className={`mark mark-${mark}`} />
            {text}
          </li>
        ))}
      </ul>
      <DotPlot errors={errors} summary={summary} front={onFront} selected={selected} onSelect={onSelect} />
      <p className="axis-name">Latency: (estimate − simulated) / simulated</p>
      <details>
        <summary>As a table</summary>
        <div className="scroll-y">
          <ErrorTable errors={errors} front={onFront} onSelect={onSelect} />
        </div>
      </details>
    </section>
  );
}
