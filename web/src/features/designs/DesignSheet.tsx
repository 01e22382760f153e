import { Builds } from "@/features/designs/Builds";
import { DesignHeadline } from "@/features/designs/DesignHeadline";
import { Files } from "@/features/designs/Files";
import { KnobTables } from "@/features/designs/KnobTables";
import { MetricTables } from "@/features/designs/MetricTables";
import { Structure } from "@/features/designs/Structure";
import { VerdictBlock } from "@/features/designs/VerdictBlock";
import { Violations } from "@/features/designs/Violations";
import type { Design, Platform } from "@/lib/api/types";

/** One design over a whole page, in columns. */
export function DesignSheet({ design, platform }: { design: Design; platform: Platform | undefined }) {
  return (
    <div className="sheet">
      <div className="card panel">
        <DesignHeadline design={design} />
        <Violations design={design} />
        <VerdictBlock design={design} />
        <Builds builds={design.builds} />
      </div>
      <div className="card panel">
        <MetricTables design={design} platform={platform} />
      </div>
      <div className="sheet-column">
        <div className="card panel">
          <KnobTables knobs={design.knobs} />
        </div>
        <div className="card panel">
          <Files design={design} />
        </div>
      </div>
      <Structure design={design} platform={platform} />
    </div>
  );
}
