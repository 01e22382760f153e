import { ErrorNote } from "@/components/ErrorNote";
import { ConverterTable } from "@/features/designs/ConverterTable";
import { FusionBlock } from "@/features/designs/FusionBlock";
import { PlacementBlock } from "@/features/designs/PlacementBlock";
import { TurnsBlock } from "@/features/designs/TurnsBlock";
import { useDataflow } from "@/features/designs/api/getDataflow";
import { convertersOf, enginesOf, loopsOf } from "@/features/designs/dataflow";
import type { Design, Platform } from "@/lib/api/types";

/** How a compiled design is cut, placed and joined; nothing before it was compiled. */
export function Structure({ design, platform }: { design: Design; platform: Platform | undefined }) {
  const revision = design.builds.map((b) => `${b.id}:${b.state}`).join();
  const { data, error, refetch } = useDataflow(design.id, revision, design.dataflow_available);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const converters = convertersOf(data);
  const engines = enginesOf(data);
  const loops = loopsOf(data);
  return (
    <>
      {data.fusion && (
        <div className="card panel">
          <FusionBlock fusion={data.fusion} />
        </div>
      )}
      {data.placement && (
        <div className="card panel">
          <PlacementBlock placement={data.placement} platform={platform} />
        </div>
      )}
      {engines.length + loops.length > 0 && (
        <div className="card panel">
          <TurnsBlock engines={engines} loops={loops} />
        </div>
      )}
      {converters.length > 0 && (
        <div className="card panel">
          <ConverterTable converters={converters} />
        </div>
      )}
    </>
  );
}
