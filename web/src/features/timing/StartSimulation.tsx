import { ErrorNote } from "@/components/ErrorNote";
import { BuildBadge } from "@/components/badges";
import { useStartSimulation } from "@/features/timing/api/startSimulation";
import { isOpen } from "@/lib/states";
import { useObjection } from "@/lib/access";
import { ActionButton } from "@/components/ActionButton";
import type { Build, Design } from "@/lib/api/types";

/** The newest build that simulates. */
const newest = (builds: readonly Build[]): Build | undefined =>
  builds.filter((b) => b.stage === "simulate").sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0];

/** In place of the results, while there are none: the way to get them, or what became of the attempt. */
export function StartSimulation({ design, onStarted }: { design: Design; onStarted(): void }) {
  const start = useStartSimulation(design.id, onStarted);
  const objection = useObjection("user");
  const build = newest(design.builds);
  const open = isOpen(build?.state);
  return (
    <div className="verdict-start">
      {open && build && (
        <p className="verdict-line" data-testid="simulate-running">
          <BuildBadge state={build.state} />
          <span>Compiling the design and running it in the cycle simulator.</span>
        </p>
      )}
      {build?.error && !open && (
        <div className="note note-bad">
          <strong>No result: the build {build.state}</strong>
          <p className="pre">{build.error}</p>
        </div>
      )}
      {!open && (
        <>
          <ActionButton kind="primary" objection={objection} busy={start.isPending} onClick={() => start.mutate()}>
            {build ? "Simulate again" : "Simulate"}
          </ActionButton>
          <span className="hint">Runs the compiled design cycle by cycle: its latency, what limits it, its FIFOs.</span>
        </>
      )}
      {start.error && <ErrorNote error={start.error} />}
    </div>
  );
}
