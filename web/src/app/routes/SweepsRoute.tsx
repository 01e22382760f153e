import { useEffect } from "react";
import { Command } from "@/components/Command";
import { ErrorNote } from "@/components/ErrorNote";
import { SweepTable } from "@/features/sweeps/SweepTable";
import { useSweeps } from "@/lib/api/sweeps";
import { useNow } from "@/lib/clock";

export function SweepsRoute() {
  const { data: sweeps, error, isPending, refetch } = useSweeps();
  const now = useNow(20_000);
  useEffect(() => {
    document.title = "Sweeps · Millrace";
  }, []);
  return (
    <>
      <div className="page-head title-row">
        <h1>Sweeps</h1>
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
    </>
  );
}
