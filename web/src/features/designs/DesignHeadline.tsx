import { FidelityBadge, Tag } from "@/components/badges";
import { Flags } from "@/features/designs/Flags";
import { strongest } from "@/features/designs/metrics";
import type { Design } from "@/lib/api/types";
import { quantity } from "@/lib/format";

function Figure({ design, name, title }: { design: Design; name: string; title: string }) {
  const metric = strongest(design.metrics, name);
  if (!metric) return null;
  const q = quantity(metric.value, metric.unit);
  return (
    <div className="figure">
      <dt>
        {title} <FidelityBadge fidelity={metric.fidelity} />
      </dt>
      <dd className="num">
        {q.text} <span className="unit">{q.unit}</span>
      </dd>
    </div>
  );
}

/** The objectives of a design, large, and what it is. */
export function DesignHeadline({ design }: { design: Design }) {
  return (
    <>
      <p className="tags">
        {design.on_front && <Tag tone="accent">on the front</Tag>}
        <Tag tone={design.feasible ? "neutral" : "bad"}>{design.feasible ? "feasible" : "infeasible"}</Tag>
        {design.pinned && <Tag tone="accent">pinned</Tag>}
        {design.archived && <Tag tone="neutral">archived</Tag>}
        {design.simulation?.refuted && <Tag tone="bad">refuted</Tag>}
        <code className="faint">{design.id}</code>
      </p>
      <dl className="figures">
        <Figure design={design} name="latency" title="Latency" />
        <Figure design={design} name="energy" title="Energy" />
      </dl>
      <Flags flags={design.flags} />
    </>
  );
}
