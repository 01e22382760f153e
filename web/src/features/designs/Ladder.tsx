import { ActionButton } from "@/components/ActionButton";
import { ErrorNote } from "@/components/ErrorNote";
import { useStartStage } from "@/features/designs/api/startStage";
import { MEANING, type Standing, buildOf, mayRun, seconds, standing } from "@/features/designs/ladder";
import { type Objection, useObjection } from "@/lib/access";
import type { Build, Design, Rung } from "@/lib/api/types";
import { useNow } from "@/lib/clock";
import { duration } from "@/lib/format";
import { Link } from "@/lib/router";
import { isOpen } from "@/lib/states";

const WORD: Record<Standing, string> = {
  none: "not run",
  waiting: "waiting",
  running: "running",
  passed: "passed",
  failed: "failed",
  cancelled: "cancelled",
};
const MARK: Record<Standing, string> = { none: "", waiting: "…", running: "", passed: "✓", failed: "✕", cancelled: "–" };

interface StepProps {
  rung: Rung;
  build: Build | undefined;
  now: number;
  objection: Objection;
  busy: boolean;
  onRun(): void;
}

function Step({ rung, build, now, objection, busy, onRun }: StepProps) {
  const word = standing(rung);
  const took = seconds(rung, now);
  const why = rung.error?.split("\n")[0] ?? (rung.state === "running" ? null : rung.waiting);
  return (
    <li className={`rung rung-${word}`} data-stage={rung.stage} aria-current={word === "running" ? "step" : undefined}>
      <i className="rung-mark" aria-hidden="true">
        {MARK[word]}
      </i>
      <span className="rung-name" title={MEANING[rung.stage]}>
        {rung.build_id ? <Link href={`/builds/${rung.build_id}`}>{rung.stage}</Link> : rung.stage}
      </span>
      <span className="rung-state num">
        {word === "failed" && rung.failure ? `failed: ${rung.failure}` : WORD[word]}
        {took !== null && ` · ${duration(took)}`}
      </span>
      {build?.node && <span className="rung-node">on {build.node}</span>}
      {build?.adopted_from && <span className="rung-node">from the cache</span>}
      {why && (
        <small className="rung-why" title={rung.error ?? why}>
          {why}
        </small>
      )}
      {mayRun(rung) && (
        <ActionButton small busy={busy} objection={objection} onClick={onRun}>
          {word === "none" ? "Run" : "Run again"}
          <span className="sr-only"> {rung.stage}</span>
        </ActionButton>
      )}
    </li>
  );
}

/** How far up the ladder a design is: each stage with its state, and a way to run it with those before it. */
export function Ladder({ design, owner }: { design: Design; owner: string | null | undefined }) {
  const start = useStartStage(design.id);
  const now = useNow(1000, design.ladder.some((r) => isOpen(r.state)));
  const mine = useObjection("user", owner);
  const objection = design.latency_us === null ? `It can not be built: ${design.reason ?? "it has no figures"}` : mine;
  return (
    <section className="card panel ladder" aria-label="Ladder" data-testid="ladder">
      <h2>Ladder</h2>
      <ol className="rungs">
        {design.ladder.map((rung) => (
          <Step
            key={rung.stage}
            rung={rung}
            build={buildOf(design.builds, rung)}
            now={now}
            objection={objection}
            busy={start.isPending}
            onRun={() => start.mutate({ stage: rung.stage })}
          />
        ))}
      </ol>
      <p className="hint">The network was imported and lowered before the search. Running a stage runs those that it reads from first.</p>
      {start.error && <ErrorNote error={start.error} />}
    </section>
  );
}
