import { type ReactNode, useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { ErrorNote } from "@/components/ErrorNote";
import { Progress } from "@/components/Progress";
import { Warnings } from "@/components/Warnings";
import { RunBadge } from "@/features/sweeps/RunBadge";
import { useChangeRun } from "@/features/sweeps/api/changeRun";
import { useObjection } from "@/lib/access";
import type { SweepRun } from "@/lib/api/sweeps";
import { ago, duration, exactTime, number, parseTime, percent } from "@/lib/format";
import { Link } from "@/lib/router";

function Stat({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <div className="stat" title={title}>
      <dt>{name}</dt>
      <dd className="num">{children}</dd>
    </div>
  );
}

function Actions({ run: r, owner }: { run: SweepRun; owner: string | null | undefined }) {
  const [asking, setAsking] = useState(false);
  const change = useChangeRun(r.id);
  const objection = useObjection("user", owner);
  return (
    <>
      {r.state === "regressed" && !r.accepted && (
        <ActionButton kind="primary" objection={objection} busy={change.isPending} onClick={() => change.mutate("accept")}>
          Accept as the baseline
        </ActionButton>
      )}
      {r.state === "running" && (
        <ActionButton objection={objection} busy={change.isPending} onClick={() => setAsking(true)}>
          Cancel
        </ActionButton>
      )}
      {change.error && <ErrorNote error={change.error} />}
      {asking && (
        <ConfirmDialog title="Cancel this run?" confirm="Cancel the run" onConfirm={() => change.mutate("cancel")} onClose={() => setAsking(false)}>
          Its explorations are stopped, with the builds that run now; what is finished stays in the cache.
        </ConfirmDialog>
      )}
    </>
  );
}

function tools(versions: Record<string, string>): string {
  return Object.entries(versions).map(([tool, version]) => `${tool} ${version}`).join(", ");
}

/** What a run is and came to. `owner`: whose sweep it is. */
export function RunHead({ run: r, owner, now }: { run: SweepRun; owner: string | null | undefined; now: number }) {
  const end = r.finished_at ? parseTime(r.finished_at) : now;
  return (
    <header className="page-head">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/sweeps">Sweeps</Link> <span>/</span> <Link href={`/sweeps/${r.sweep_id}`}>{r.sweep}</Link> <span>/</span> <code>{r.id}</code>
      </nav>
      <div className="title-row">
        <h1>
          Run of {r.sweep} <span className="subtitle">{exactTime(r.created_at)}</span>
        </h1>
        <span data-testid="state">
          <RunBadge state={r.state} accepted={r.accepted !== null} />
        </span>
        <span className="spacer" />
        <Actions run={r} owner={owner} />
      </div>
      <dl className="stats card">
        <Stat name="Explorations">
          {number(r.ended)} <span className="faint">/ {number(r.explorations)}</span>
          <Progress value={r.ended} max={r.explorations} busy={r.state === "running"} label="Explorations ended" />
        </Stat>
        <Stat name="Worse">{number(r.regression_count)}</Stat>
        <Stat name="Better">{number(r.improvement_count)}</Stat>
        <Stat name="Hypervolume" title="Of the fronts, 1 at the first run">
          {r.index === null ? "–" : r.index.toFixed(3)}
        </Stat>
        <Stat name="Builds" title="That ran, and whose results came from the cache">
          {r.builds ? `${number(r.builds.ran)} + ${number(r.builds.cached)}` : "–"}
        </Stat>
        <Stat name={r.finished_at ? "Took" : "Running for"}>{duration((end - parseTime(r.created_at)) / 1000)}</Stat>
      </dl>
      <p className="hint run-notes">
        {r.baseline_id ? (
          <>
            Compared with <Link href={`/sweep-runs/${r.baseline_id}`}>the last good run</Link>
            {r.tolerance !== null && `; differences up to ${percent(r.tolerance)} count as none`}.{" "}
          </>
        ) : (
          "The first run: there is nothing to compare with. "
        )}
        {r.accepted && `Accepted${r.accepted.who ? ` by ${r.accepted.who}` : ""} ${ago(r.accepted.at, now)}. `}
        {Object.keys(r.tool_versions).length > 0 && `Made with ${tools(r.tool_versions)}.`}
      </p>
      <Warnings texts={r.warnings} />
      {r.error && (
        <div className="note note-bad" role="alert">
          <strong>The run failed</strong>
          <p className="pre">{r.error}</p>
        </div>
      )}
    </header>
  );
}
