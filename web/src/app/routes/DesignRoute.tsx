import { useEffect } from "react";
import { Unavailable } from "@/components/Unavailable";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { DesignSheet } from "@/features/designs/DesignSheet";
import { useDesign } from "@/features/designs/api/getDesign";
import { useExploration } from "@/features/explorations/api/getExploration";
import { number } from "@/lib/format";
import { Link } from "@/lib/router";
import { workloadText } from "@/lib/workload";

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
        </div>
      </header>
      <DesignSheet design={design} platform={platforms.data?.find((p) => p.name === exploration?.platform)} />
    </>
  );
}
