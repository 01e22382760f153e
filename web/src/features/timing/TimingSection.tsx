import { ErrorNote } from "@/components/ErrorNote";
import { DeadlockNote } from "@/features/timing/DeadlockNote";
import { FifoBlock } from "@/features/timing/FifoBlock";
import { HbmBlock } from "@/features/timing/HbmBlock";
import { LimitsBlock } from "@/features/timing/LimitsBlock";
import { StartSimulation } from "@/features/timing/StartSimulation";
import { TimelineBlock } from "@/features/timing/TimelineBlock";
import { TimingHeadline } from "@/features/timing/TimingHeadline";
import { useSimulation } from "@/features/timing/api/getSimulation";
import type { StreamSpec } from "@/features/timing/fifos";
import type { Simulation } from "@/features/timing/simulation";
import type { Design } from "@/lib/api/types";

interface Props {
  design: Design;
  /** The streams of its dataflow.json, once they are known. */
  streams: readonly StreamSpec[];
  onStarted(): void;
}

function Results({ simulation, streams }: { simulation: Simulation; streams: readonly StreamSpec[] }) {
  return (
    <>
      <div className="card panel">
        <TimelineBlock simulation={simulation} />
      </div>
      <div className="sheet halves">
        {!simulation.deadlock && (
          <div className="card panel">
            <LimitsBlock simulation={simulation} />
          </div>
        )}
        <div className="card panel">
          <HbmBlock simulation={simulation} />
        </div>
      </div>
      <div className="card panel">
        <FifoBlock simulation={simulation} streams={streams} />
      </div>
    </>
  );
}

/** Where the time of a design goes, by the cycle simulator. */
export function TimingSection({ design, streams, onStarted }: Props) {
  const revision = design.builds.map((b) => `${b.id}:${b.state}`).join();
  const { data, error, refetch } = useSimulation(design.id, revision, design.simulation_available);
  return (
    <section id="timing" className="timing" aria-labelledby="timing-title" data-testid="timing">
      <div className="card panel">
        <h2 id="timing-title" className="section-title">
          Timing
        </h2>
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data && <TimingHeadline simulation={data} metrics={design.metrics} />}
        {data?.deadlock && <DeadlockNote deadlock={data.deadlock} fifos={data.fifos} />}
        {!design.simulation_available && <StartSimulation design={design} onStarted={onStarted} />}
      </div>
      {data && <Results simulation={data} streams={streams} />}
    </section>
  );
}
