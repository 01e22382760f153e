import { useMemo, useState } from "react";
import { AxesSwitch } from "@/features/pareto/AxesSwitch";
import { FidelitySwitch } from "@/features/pareto/FidelitySwitch";
import { Legend } from "@/features/pareto/Legend";
import { ParetoChart } from "@/features/pareto/ParetoChart";
import type { Snapshot } from "@/features/pareto/cloud";
import type { Alike } from "@/features/pareto/groups";
import type { Shown } from "@/features/pareto/fidelity";
import { Toggle } from "@/components/Toggle";
import type { Objective } from "@/lib/api/types";
import type { Axes } from "@/lib/front";
import { useStoredFlag } from "@/lib/stored";

interface Props {
  snapshot: Snapshot;
  /** Its front. */
  groups: readonly Alike[];
  /** Id of the design that the service calls so. */
  knee: string | undefined;
  objectives: readonly Objective[];
  loading: boolean;
  /** What to say while there is nothing to draw. */
  emptyText: string;
  selected: string | null;
  shown: Shown;
  /** Whether any design was simulated: else there is nothing to choose. */
  canSimulate: boolean;
  onShow(shown: Shown): void;
  onSelect(id: string): void;
}

export function ParetoPlot({ snapshot, groups, knee, objectives, loading, emptyText, selected, shown, canSimulate, onShow, onSelect }: Props) {
  const [axes, setAxes] = useState<Axes>([0, 1]);
  const [log, setLog] = useStoredFlag("log", true);
  const [infeasible, setInfeasible] = useStoredFlag("infeasible", false);
  const [frontOnly, setFrontOnly] = useStoredFlag("frontOnly", true);
  const view = useMemo(
    () => ({ log, infeasible, frontOnly, selected, shown, objectives, axes, groups, knee }),
    [log, infeasible, frontOnly, selected, shown, objectives, axes, groups, knee],
  );

  return (
    <section className="card plot" aria-label="Pareto plot">
      <div className="plot-bar">
        <Legend snapshot={snapshot} groups={groups} objectives={objectives} axes={axes} infeasible={infeasible} shown={shown} />
        {objectives.length > 2 && <AxesSwitch objectives={objectives} axes={axes} onChange={setAxes} />}
        {canSimulate && <FidelitySwitch shown={shown} onShow={onShow} />}
        <div className="toggles">
          <Toggle label="Log axes" on={log} onChange={setLog} />
          <Toggle label="Zoom to front" on={frontOnly} onChange={setFrontOnly} />
          <Toggle label="Show infeasible" on={infeasible} onChange={setInfeasible} />
        </div>
      </div>
      <div className="plot-area">
        <ParetoChart snapshot={snapshot} view={view} onSelect={onSelect} />
        {loading && <div className="skeleton plot-cover" />}
        {!loading && !snapshot.points.length && <p className="plot-cover plot-empty">{emptyText}</p>}
      </div>
    </section>
  );
}
