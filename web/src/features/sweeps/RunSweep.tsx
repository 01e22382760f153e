import { useRef } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ErrorNote } from "@/components/ErrorNote";
import { useRunSweep } from "@/features/sweeps/api/runSweep";
import { useObjection } from "@/lib/access";
import { newKey } from "@/lib/api/http";
import type { Sweep } from "@/lib/api/sweeps";
import { navigate } from "@/lib/router";

/** Starts a run by hand, and shows it. */
export function RunSweep({ sweep: s }: { sweep: Sweep }) {
  const run = useRunSweep(s.id);
  const key = useRef(newKey());
  const mine = useObjection("user", s.owner);
  const objection = s.last_run?.state === "running" ? "A run of it is under way" : mine;
  const start = () =>
    run.mutate(key.current, { onSuccess: ({ id }) => navigate(`/sweep-runs/${id}`), onError: () => (key.current = newKey()) });
  return (
    <>
      <ActionButton kind="primary" objection={objection} busy={run.isPending} onClick={start}>
        {run.isPending ? "Starting…" : "Run now"}
      </ActionButton>
      {run.error && <ErrorNote error={run.error} />}
    </>
  );
}
