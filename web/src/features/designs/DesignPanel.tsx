import { ErrorNote } from "@/components/ErrorNote";
import { Builds } from "@/features/designs/Builds";
import { DesignHeadline } from "@/features/designs/DesignHeadline";
import { Files } from "@/features/designs/Files";
import { KnobTables } from "@/features/designs/KnobTables";
import { MetricTables } from "@/features/designs/MetricTables";
import { VerdictBlock } from "@/features/designs/VerdictBlock";
import { Violations } from "@/features/designs/Violations";
import { useDesign } from "@/features/designs/api/getDesign";
import type { Platform } from "@/lib/api/types";
import { number } from "@/lib/format";
import { Link } from "@/lib/router";

interface Props {
  id: string;
  platform: Platform | undefined;
  onClose(): void;
}

/** One design beside the plot it was chosen from. */
export function DesignPanel({ id, platform, onClose }: Props) {
  const { data: design, error, refetch } = useDesign(id);
  return (
    <aside className="card panel" aria-label="Design" data-testid="design-panel">
      <div className="panel-head">
        <h2>{design ? `Design ${number(design.number)}` : "Design"}</h2>
        <Link href={`/designs/${id}`}>Open page</Link>
        <button type="button" className="button small" aria-label="Close the design" onClick={onClose}>
          ✕
        </button>
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!design && !error && <div className="skeleton tall" />}
      {design && (
        <>
          <DesignHeadline design={design} />
          <Violations design={design} />
          <VerdictBlock design={design} />
          <MetricTables design={design} platform={platform} />
          <KnobTables knobs={design.knobs} />
          <Files design={design} />
          <Builds builds={design.builds} />
        </>
      )}
    </aside>
  );
}
