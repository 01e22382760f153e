import { useEffect, useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ErrorNote } from "@/components/ErrorNote";
import { Toggle } from "@/components/Toggle";
import { UploadModel } from "@/features/catalog/UploadModel";
import { useModels } from "@/features/catalog/api/listModels";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { ExplorationTable } from "@/features/explorations/ExplorationTable";
import { NewExplorationDialog } from "@/features/explorations/NewExplorationDialog";
import { NoExplorations } from "@/features/explorations/NoExplorations";
import { useExplorations } from "@/features/explorations/api/listExplorations";
import { useObjection } from "@/lib/access";
import { boardsOf, useFarm, vitisVersions } from "@/lib/api/farm";

export function ExplorationsRoute() {
  const [creating, setCreating] = useState(false);
  const [archived, setArchived] = useState(false);
  const list = useExplorations(archived);
  const models = useModels(creating);
  const platforms = usePlatforms();
  const farm = useFarm(0, creating).data;
  const objection = useObjection("user");
  const explorations = list.data?.pages.flatMap((page) => page.items);

  useEffect(() => {
    document.title = "Explorations · Millrace";
  }, []);

  return (
    <>
      <div className="page-head title-row">
        <h1>Explorations</h1>
        <span className="spacer" />
        <Toggle label="Archived too" on={archived} onChange={setArchived} />
        <ActionButton kind="primary" objection={objection} onClick={() => setCreating(true)}>
          New exploration
        </ActionButton>
      </div>
      {list.error && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="card skeleton list" />}
      {explorations?.length === 0 && <NoExplorations objection={objection} onNew={() => setCreating(true)} />}
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
          farm={{ vitis: vitisVersions(farm), boards: boardsOf(farm) }}
          error={models.error ?? platforms.error}
          upload={(onStored) => <UploadModel onStored={onStored} />}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}
