import { useEffect } from "react";
import { Unavailable } from "@/components/Unavailable";
import { BuildBadge, Tag } from "@/components/badges";
import { Attempts } from "@/features/builds/Attempts";
import { BuildActions } from "@/features/builds/BuildActions";
import { BuildFacts } from "@/features/builds/BuildFacts";
import { LogBlock } from "@/features/builds/LogBlock";
import { useBuild } from "@/features/builds/api/getBuild";
import { Files } from "@/features/designs/Files";
import { useDesign } from "@/features/designs/api/getDesign";
import { boardsOf, useFarm, vitisVersions } from "@/lib/api/farm";
import type { Build } from "@/lib/api/types";
import { useNow } from "@/lib/clock";
import { duration, number, parseTime } from "@/lib/format";
import { Link } from "@/lib/router";
import { isOpen } from "@/lib/states";

/** The files of its design: those that this build made are among them. */
function DesignFiles({ id }: { id: string }) {
  const { data: design } = useDesign(id);
  return design ? (
    <div className="card panel">
      <Files design={design} />
    </div>
  ) : null;
}

function Subject({ build: b }: { build: Build }) {
  const { data: design } = useDesign(b.design_id ?? "", b.design_id !== null);
  if (b.design_id) return <Link href={`/designs/${b.design_id}`}>design {design ? number(design.number) : b.design_id}</Link>;
  if (b.exploration_id) return <Link href={`/explorations/${b.exploration_id}`}>an exploration</Link>;
  return <>a workload</>;
}

export function BuildRoute({ id }: { id: string }) {
  const { data: build, error, refetch } = useBuild(id);
  const farm = useFarm(0);
  const now = useNow(1000, isOpen(build?.state));
  useEffect(() => {
    document.title = build ? `${build.stage} ${build.state} · Millrace` : "Millrace";
  }, [build]);

  if (error && !build) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!build) return <div className="skeleton page" />;
  const elapsed = build.started_at ? duration(((build.finished_at ? parseTime(build.finished_at) : now) - parseTime(build.started_at)) / 1000) : "";
  return (
    <>
      <header className="page-head">
        <nav className="crumbs" aria-label="Breadcrumb">
          <Link href="/builds">Builds</Link> <span>/</span> <code>{build.id}</code>
        </nav>
        <div className="title-row">
          <h1>
            {build.stage} <span className="subtitle">of <Subject build={build} /></span>
          </h1>
          <span data-testid="state">
            <BuildBadge state={build.state} />
          </span>
          {build.failure && build.state === "failed" && <Tag tone="bad">{build.failure}</Tag>}
          {build.adopted_from && <Tag tone="neutral">from the cache</Tag>}
          <span className="hint num">
            {elapsed}
            {build.node && ` on ${build.node}`}
          </span>
          <span className="spacer" />
          <BuildActions build={build} running={elapsed} vitis={vitisVersions(farm.data)} boards={boardsOf(farm.data)} />
        </div>
        {build.waiting && (
          <div className="note note-plain" role="status" data-testid="waiting">
            <strong>{build.state === "blocked" ? "Blocked" : "Waiting"}</strong>
            <p>{build.waiting}</p>
          </div>
        )}
      </header>
      <div className="split">
        <div className="split-main">
          <Attempts build={build} now={now} />
          <LogBlock key={`${build.id} ${build.attempt}`} build={build} />
        </div>
        <div className="stack-gap">
          <BuildFacts build={build} />
          {build.design_id && <DesignFiles id={build.design_id} />}
        </div>
      </div>
    </>
  );
}
