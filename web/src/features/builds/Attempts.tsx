import { Tag, type Tone } from "@/components/badges";
import type { Attempt, Build, Failure } from "@/lib/api/types";
import { duration, exactTime, parseTime } from "@/lib/format";

const MEANING: Record<Failure, string> = {
  infeasible: "The design can not be built so; it is not tried again",
  tool: "The tool crashed; it is tried twice",
  licence: "No licence was to be had; it is tried again later and later",
  node: "The node was lost, or its disk, memory or board failed; it is tried four times",
  timeout: "It took longer than its stage may, mostly waiting; it is tried twice",
  limit: "It needs more than it asked for; it is not tried again",
};

interface Run {
  attempt: number;
  tone: Tone;
  word: string;
  failure: Failure | null;
  error: string | null;
  node: string | null;
  log: string | null;
  from: string | null;
  to: string | null;
}

const ofHistory = (b: Build, a: Attempt): Run => ({
  attempt: a.attempt,
  tone: "bad",
  word: a.failure,
  failure: a.failure,
  error: a.error,
  node: a.node,
  log: a.log_digest ? `/v1/builds/${b.id}/log?attempt=${a.attempt}` : null,
  from: a.started_at,
  to: a.finished_at,
});

const TONE: Record<Build["state"], Tone> = { blocked: "neutral", queued: "neutral", running: "busy", done: "good", failed: "bad", cancelled: "warn" };

function runsOf(b: Build): Run[] {
  const now = { attempt: b.attempt, tone: TONE[b.state], word: b.failure ?? b.state, failure: b.failure, error: b.error };
  const last: Run = { ...now, node: b.node, log: b.log_url, from: b.started_at, to: b.finished_at };
  return [...b.history.map((a) => ofHistory(b, a)), ...(b.started_at ? [last] : [])];
}

const took = ({ from, to }: Run, now: number): string =>
  from ? duration(((to ? parseTime(to) : now) - parseTime(from)) / 1000) : "";

/** What happened to a build so far: each run with its end. */
export function Attempts({ build, now }: { build: Build; now: number }) {
  const runs = runsOf(build);
  if (!runs.length) return null;
  return (
    <section className="card panel" aria-label="Attempts" data-testid="attempts">
      <h2>{runs.length === 1 ? "One attempt" : `${runs.length} attempts`}</h2>
      <ol className="attempts">
        {runs.map((run, i) => (
          <li key={i} className={`tone-${run.tone}`}>
            <p className="attempt-line">
              <span title={run.failure ? MEANING[run.failure] : undefined}>
                <Tag tone={run.tone}>{run.word}</Tag>
              </span>
              {run.node && <span>on {run.node}</span>}
              <span className="num">{took(run, now)}</span>
              {run.from && <time className="faint" dateTime={run.from}>{exactTime(run.from)}</time>}
              {run.log && i < runs.length - 1 && (
                <a href={run.log} target="_blank" rel="noreferrer">
                  Log
                </a>
              )}
            </p>
            {run.error && <p className="pre attempt-error">{run.error}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
