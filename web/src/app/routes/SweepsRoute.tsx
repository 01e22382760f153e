import { useEffect, useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { Command } from "@/components/Command";
import { ErrorNote } from "@/components/ErrorNote";
import { useModels } from "@/features/catalog/api/listModels";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { NewSweepDialog } from "@/features/sweeps/NewSweepDialog";
import { SweepTable } from "@/features/sweeps/SweepTable";
import { useObjection } from "@/lib/access";
import { useSweeps } from "@/lib/api/sweeps";
import { useNow } from "@/lib/clock";

export function SweepsRoute() {
  const [creating, setCreating] = useState(false);
  const models = useModels(creating);
  const platforms = usePlatforms();
  const objection = useObjection("user");
  const { data: sweeps, error, isPending, refetch } = useSweeps();
  const now = useNow(20_000);
  useEffect(() => {
    document.title = "Sweeps · Millrace";
  }, []);
  return (
    <>
      <div className="page-head title-row">
        <h1>Sweeps</h1>
        <span className="spacer" />
        <ActionButton kind="primary" objection={objection} onClick={() => setCreating(true)}>
          New sweep
        </ActionButton>
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && !error && <div className="card skeleton list" />}
      {sweeps?.length === 0 && (
        <section className="card empty">
          <h2>No sweep yet</h2>
          <p>A sweep explores a matrix of workloads on a schedule, compares each run with the last good one, and says what got worse:</p>
          <Command text='millrace sweep add nightly --cron "0 3 * * *" --zone Europe/Berlin --model gpt2' />
        </section>
      )}
      {sweeps && sweeps.length > 0 && <SweepTable sweeps={sweeps} now={now} />}
      {creating && (
        <NewSweepDialog
          models={models.data ?? []}
          platforms={platforms.data ?? []}
          error={models.error ?? platforms.error}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}
