import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { ErrorNote } from "@/components/ErrorNote";
import { Unavailable } from "@/components/Unavailable";
import { usePlatforms } from "@/features/catalog/api/listPlatforms";
import { DesignPanel } from "@/features/designs/DesignPanel";
import { designKey } from "@/features/designs/api/getDesign";
import { Climb } from "@/features/explorations/Climb";
import { ExplorationHeader } from "@/features/explorations/ExplorationHeader";
import { explorationKey, useExploration } from "@/features/explorations/api/getExploration";
import { EstimateError } from "@/features/accuracy/EstimateError";
import { FrontTable } from "@/features/pareto/FrontTable";
import { ParetoPlot } from "@/features/pareto/ParetoPlot";
import { QuickPicks } from "@/features/pareto/QuickPicks";
import { at, isSimulated } from "@/features/pareto/fidelity";
import { groupsKey, useGroups } from "@/features/pareto/api/getGroups";
import { alike } from "@/features/pareto/groups";
import { useScatter } from "@/features/pareto/useScatter";
import type { BuildEvent, ExplorationState } from "@/lib/api/types";
import { latencyAt } from "@/lib/objectives";
import { useQueryParam } from "@/lib/router";
import { useStoredFlag } from "@/lib/stored";

const NOTHING_YET: Record<ExplorationState, string> = {
  queued: "Waiting for a worker.",
  lowering: "Importing the network. The first designs appear when it is lowered.",
  searching: "Evaluating the first designs.",
  simulating: "No design was stored.",
  verifying: "No design was stored.",
  building: "No design was stored.",
  done: "No design was stored.",
  failed: "The exploration failed before it had a design.",
  cancelled: "The exploration was cancelled before it had a design.",
};

/** The service sums up the errors of the estimates anew after each simulation. */
const changesErrors = ({ stage, state }: BuildEvent): boolean => stage === "simulate" && state === "done";

export function ExplorationRoute({ id }: { id: string }) {
  const client = useQueryClient();
  const [selected, select] = useQueryParam("design");
  const { data: exploration, error, refetch } = useExploration(id);
  const platforms = usePlatforms();

  const onState = useCallback(
    () => [explorationKey(id), groupsKey(id)].forEach((queryKey) => void client.invalidateQueries({ queryKey })),
    [client, id],
  );
  const onBuild = useCallback(
    (event: BuildEvent) => {
      if (event.design_id) void client.invalidateQueries({ queryKey: designKey(event.design_id) });
      if (event.stage !== "simulate" && event.stage !== "csim") void client.invalidateQueries({ queryKey: ["promoted", id] });
      if (changesErrors(event)) onState();
    },
    [client, id, onState],
  );
  const scatter = useScatter(id, { onState, onBuild });
  const { snapshot } = scatter;
  const [preferSimulate, setPreferSimulate] = useStoredFlag("simulate", false);
  const latency = latencyAt(exploration?.objectives ?? []);
  const canSimulate = latency >= 0 && snapshot.points.some(isSimulated);
  const shown = preferSimulate && canSimulate ? "simulate" : "estimate";
  const drawn = useMemo(() => at(snapshot, shown, latency), [snapshot, shown, latency]);
  const grouping = useGroups(id).data;
  // Groups are of the front by estimate.
  const groups = useMemo(() => alike(drawn.front, shown === "estimate" ? (grouping?.groups ?? []) : []), [drawn, shown, grouping]);

  useEffect(() => {
    document.title = exploration ? `${exploration.name} · Millrace` : "Millrace";
  }, [exploration]);

  if (error && !exploration) return <Unavailable error={error} onRetry={() => void refetch()} />;
  if (!exploration) return <div className="skeleton page" />;
  const knee = exploration.picks.find(({ kind }) => kind === "knee")?.design_id;
  const counts = { evaluated: snapshot.evaluated, feasible: snapshot.feasible, front: snapshot.front.length };
  return (
    <>
      <ExplorationHeader exploration={exploration} counts={counts} connected={scatter.connected} />
      {scatter.error && <ErrorNote error={scatter.error} />}
      <div className="split">
        <div className="split-main">
          <ParetoPlot
            snapshot={drawn}
            groups={groups}
            knee={knee}
            objectives={exploration.objectives}
            loading={scatter.loading}
            emptyText={NOTHING_YET[exploration.state]}
            selected={selected}
            shown={shown}
            canSimulate={canSimulate}
            onShow={(to) => setPreferSimulate(to === "simulate")}
            onSelect={select}
          />
          <FrontTable
            snapshot={drawn}
            groups={groups}
            knee={knee}
            error={grouping?.error ?? 0}
            objectives={exploration.objectives}
            loading={scatter.loading}
            selected={selected}
            shown={shown}
            onSelect={select}
          />
          <Climb exploration={exploration} />
          <EstimateError
            points={snapshot.points}
            front={snapshot.front}
            summary={exploration.estimate_errors}
            selected={selected}
            onSelect={select}
          />
        </div>
        {selected ? (
          <DesignPanel
            key={selected}
            id={selected}
            platform={platforms.data?.find((p) => p.name === exploration.platform)}
            onClose={() => select(null)}
          />
        ) : (
          <QuickPicks picks={exploration.picks} objectives={exploration.objectives} onSelect={select} />
        )}
      </div>
    </>
  );
}
