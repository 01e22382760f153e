import { useEffect } from "react";
import { Unavailable } from "@/components/Unavailable";
import { Improvements, Regressions } from "@/features/sweeps/Regressions";
import { RunHead } from "@/features/sweeps/RunHead";
import { Slots } from "@/features/sweeps/Slots";
import { useRun } from "@/features/sweeps/api/getRun";
import { useSweep } from "@/features/sweeps/api/getSweep";
import { useNow } from "@/lib/clock";

export function SweepRunRoute({ id }: { id: string }) {
  const { data: run, error, refetch } = useRun(id);
  const { data: sweep } = useSweep(run?.sweep_id ?? null);
  const now = useNow(1000, run?.state === "running");
  useEffect(() => {
    document.title = run ? `${run.sweep}: ${run.state} · Millrace` : "Millrace";
  }, [run]);

  if (error && !run) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!run) return <div className="skeleton page" />;
  return (
    <>
      <RunHead run={run} owner={sweep?.owner} now={now} />
      <div className="stack-gap">
        <Regressions regressions={run.regressions} count={run.regression_count} />
        <Slots slots={run.slots} />
        <Improvements changes={run.improvements} count={run.improvement_count} />
        {run.state === "running" && <p className="hint">The comparison is made when all its explorations have ended.</p>}
      </div>
    </>
  );
}
