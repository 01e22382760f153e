import { useEffect, useState } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { UploadModel } from "@/features/catalog/UploadModel";
import { useModels } from "@/features/catalog/api/listModels";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { ExplorationTable } from "@/features/explorations/ExplorationTable";
import { NewExplorationDialog } from "@/features/explorations/NewExplorationDialog";
import { NoExplorations } from "@/features/explorations/NoExplorations";
import { useExplorations } from "@/features/explorations/api/listExplorations";

export function ExplorationsRoute() {
  const [creating, setCreating] = useState(false);
  const list = useExplorations();
  const models = useModels(creating);
  const platforms = usePlatforms();
  const explorations = list.data?.pages.flatMap((page) => page.items);

  useEffect(() => {
    document.title = "Explorations · Millrace";
  }, []);

  return (
    <>
      <div className="page-head title-row">
        <h1>Explorations</h1>
        <span className="spacer" />
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          New exploration
        </button>
      </div>
      {list.error && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="card skeleton list" />}
      {explorations?.length === 0 && <NoExplorations onNew={() => setCreating(true)} />}
      {explorations && explorations.length > 0 && <ExplorationTable explorations={explorations} />}
      {list.hasNextPage && (
        <button type="button" className="button more" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Older explorations
        </button>
      )}
      {creating && (
        <NewExplorationDialog
          models={models.data ?? []}
          platforms={platforms.data ?? []}
          error={models.error ?? platforms.error}
          upload={(onStored) => <UploadModel onStored={onStored} />}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}
