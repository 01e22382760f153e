import { FidelityBadge } from "@/components/badges";
import type { Simulation, StallingRun } from "@/features/timing/simulation";
import { stallingInWords } from "@/features/timing/stalling";
import type { Fidelity, Metric } from "@/lib/api/types";
import { errorInWords, estimateError } from "@/lib/estimate";
import { number, withUnit } from "@/lib/format";

function Figure({ fidelity, cycles, mhz }: { fidelity: Fidelity; cycles: number; mhz: number }) {
  return (
    <div className="figure">
      <dt>
        Latency <FidelityBadge fidelity={fidelity} />
      </dt>
      <dd className="num">
        {withUnit(cycles / mhz, "us")}{" "}
        <small>
          {number(cycles)} cycles at {number(mhz)} MHz
        </small>
      </dd>
    </div>
  );
}

function Stalling({ run }: { run: StallingRun }) {
  return (
    <div className="figure" data-testid="stalling">
      <dt>
        With stalling pipelines (stp) <FidelityBadge fidelity={run.fidelity} />
      </dt>
      <dd className="verbal" title={run.deadlock ?? undefined}>
        {stallingInWords(run)}
      </dd>
    </div>
  );
}

/** What the service knows where the simulator was not told. */
const estimatedCycles = (metrics: readonly Metric[]): number | null =>
  metrics.find((m) => m.name === "cycles" && m.fidelity === "estimate")?.value ?? null;

/** Latency by the simulator beside the estimate. */
export function TimingHeadline({ simulation: s, metrics }: { simulation: Simulation; metrics: readonly Metric[] }) {
  const estimate = s.estimate_cycles ?? estimatedCycles(metrics);
  return (
    <dl className="figures timing-figures" data-testid="timing-headline">
      {!s.deadlock && <Figure fidelity="simulate" cycles={s.cycles} mhz={s.clock_mhz} />}
      {estimate !== null && <Figure fidelity="estimate" cycles={Math.round(estimate)} mhz={s.clock_mhz} />}
      {!s.deadlock && estimate !== null && s.cycles > 0 && (
        <div className="figure">
          <dt>The estimate is</dt>
          <dd className="verbal">{errorInWords(estimateError(estimate, s.cycles))}</dd>
        </div>
      )}
      {s.stalling && <Stalling run={s.stalling} />}
    </dl>
  );
}
