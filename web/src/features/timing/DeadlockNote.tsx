import { remedy } from "@/features/timing/deadlock";
import type { Deadlock, FifoRun, Wait } from "@/features/timing/simulation";

const BECAUSE = { empty: "waits for a token in", full: "waits for room in" } as const;

function Step({ wait, closing }: { wait: Wait; closing: boolean }) {
  return (
    <li className={closing ? "closing" : ""}>
      <code>{wait.task}</code>
      <small>
        {BECAUSE[wait.because]} <code>{wait.fifo}</code>
      </small>
    </li>
  );
}

/** Who waits for whom in a circle, and what would end it. */
export function DeadlockNote({ deadlock, fifos }: { deadlock: Deadlock; fifos: readonly FifoRun[] }) {
  const { cycle, text } = deadlock;
  return (
    <div className="note note-bad" role="alert" data-testid="deadlock">
      <strong>The design deadlocks. {remedy(deadlock, fifos)}</strong>
      {cycle.length > 0 && (
        <ol className="wait-cycle" aria-label="The tasks that wait for each other, the last for the first">
          {cycle.map((wait, i) => (
            <Step key={wait.task} wait={wait} closing={i === cycle.length - 1} />
          ))}
        </ol>
      )}
      <p className="pre">{text}</p>
    </div>
  );
}
