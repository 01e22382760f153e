import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Unavailable } from "@/components/Unavailable";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { DesignActions } from "@/features/designs/DesignActions";
import { DesignSheet } from "@/features/designs/DesignSheet";
import { Fidelities } from "@/features/designs/Fidelities";
import { Ladder } from "@/features/designs/Ladder";
import { useDataflow } from "@/features/designs/api/getDataflow";
import { designKey, useDesign } from "@/features/designs/api/getDesign";
import { useExploration } from "@/features/explorations/api/getExploration";
import { TimingSection } from "@/features/timing/TimingSection";
import type { Design } from "@/lib/api/types";
import { number } from "@/lib/format";
import { Link } from "@/lib/router";
import { workloadText } from "@/lib/workload";

const NO_STREAMS: [] = [];

/** Where the time goes, with what the compiler knows of the streams. */
function Timing({ design }: { design: Design }) {
  const client = useQueryClient();
  const revision = design.builds.map((b) => `${b.id}:${b.state}`).join();
  const { data } = useDataflow(design.id, revision, design.dataflow_available);
  return (
    <TimingSection
      design={design}
      streams={data?.streams ?? NO_STREAMS}
      onStarted={() => void client.invalidateQueries({ queryKey: designKey(design.id) })}
    />
  );
}

export function DesignRoute({ id }: { id: string }) {
  const { data: design, error, refetch } = useDesign(id);
  const { data: exploration } = useExploration(design?.exploration_id ?? null);
  const platforms = usePlatforms();

  useEffect(() => {
    document.title = design ? `Design ${design.number} · Millrace` : "Millrace";
  }, [design]);

  if (error && !design) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!design) return <div className="skeleton page" />;
  return (
    <>
      <header className="page-head">
        <nav className="crumbs" aria-label="Breadcrumb">
          <Link href="/">Explorations</Link> <span>/</span>{" "}
          <Link href={`/explorations/${design.exploration_id}?design=${design.id}`}>
            {exploration ? exploration.model.name : design.exploration_id}
          </Link>{" "}
          <span>/</span> <code>{design.id}</code>
        </nav>
        <div className="title-row">
          <h1>
            Design {number(design.number)}{" "}
            <span className="subtitle">
              {exploration && `${exploration.model.name} · ${workloadText(exploration)} on ${exploration.platform}`}
            </span>
          </h1>
          <span className="spacer" />
          <a href="#timing">Timing</a>
          <DesignActions design={design} owner={exploration?.owner} />
        </div>
      </header>
      <div className="stack-gap">
        <Ladder design={design} owner={exploration?.owner} />
        <Fidelities design={design} />
      </div>
      <DesignSheet design={design} platform={platforms.data?.find((p) => p.name === exploration?.platform)} />
      <Timing design={design} />
    </>
  );
}
