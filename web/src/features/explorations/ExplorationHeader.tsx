import { type ReactNode, useState } from "react";
import { ActionButton } from "@/components/ActionButton";
import { ConfirmDialog } from "@/components/ConfirmDialog";
import { DeleteDialog } from "@/components/DeleteDialog";
import { ErrorNote } from "@/components/ErrorNote";
import { Progress } from "@/components/Progress";
import { Warnings } from "@/components/Warnings";
import { StateBadge, Tag } from "@/components/badges";
import { EditExplorationDialog } from "@/features/explorations/EditExplorationDialog";
import { useChangeExploration } from "@/features/explorations/api/changeExploration";
import { useCancelExploration } from "@/features/explorations/api/cancelExploration";
import { useDeleteExploration } from "@/features/explorations/api/deleteExploration";
import { useResumeExploration } from "@/features/explorations/api/resumeExploration";
import { boundsText } from "@/features/explorations/bounds";
import type { Exploration } from "@/lib/api/types";
import { useObjection } from "@/lib/access";
import { useNow } from "@/lib/clock";
import { ago, duration, exactTime, number, parseTime, rough } from "@/lib/format";
import { inWords, isChosen } from "@/lib/objectives";
import { Link, navigate } from "@/lib/router";
import { isActive } from "@/lib/states";
import { workloadText } from "@/lib/workload";

interface Props {
  exploration: Exploration;
  /** Counts of the event stream, ahead of those in `exploration` while it runs. */
  counts: { evaluated: number; feasible: number; front: number };
  connected: boolean;
}

function Stat({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <div className="stat" title={title}>
      <dt>{name}</dt>
      <dd className="num">{children}</dd>
    </div>
  );
}

function Actions({ exploration: e }: { exploration: Exploration }) {
  const { id, state, owner } = e;
  const [asking, setAsking] = useState(false);
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const objection = useObjection("user", owner);
  const cancel = useCancelExploration(id);
  const resume = useResumeExploration(id);
  const remove = useDeleteExploration(id);
  const mark = useChangeExploration(id);
  const error = cancel.error ?? resume.error ?? remove.error ?? mark.error;
  return (
    <>
      {isActive(state) && (
        <ActionButton
          objection={objection}
          busy={cancel.isPending}
          onClick={() => (state === "building" ? setAsking(true) : cancel.mutate())}
        >
          {cancel.isPending ? "Cancelling…" : "Cancel"}
        </ActionButton>
      )}
      {(state === "failed" || state === "cancelled") && (
        <ActionButton kind="primary" objection={objection} busy={resume.isPending} onClick={() => resume.mutate()}>
          {resume.isPending ? "Resuming…" : "Resume"}
        </ActionButton>
      )}
      <ActionButton objection={objection} onClick={() => setEditing(true)}>
        Edit
      </ActionButton>
      <ActionButton objection={objection} busy={mark.isPending} onClick={() => mark.mutate({ archived: !e.archived })}>
        {e.archived ? "List again" : "Archive"}
      </ActionButton>
      <ActionButton objection={objection} busy={mark.isPending} onClick={() => mark.mutate({ pinned: !e.pinned })}>
        {e.pinned ? "Unpin" : "Pin"}
      </ActionButton>
      {!isActive(state) && (
        <ActionButton kind="danger" objection={objection} busy={remove.isPending} onClick={() => setDeleting(true)}>
          {remove.isPending ? "Deleting…" : "Delete"}
        </ActionButton>
      )}
      {editing && <EditExplorationDialog exploration={e} onClose={() => setEditing(false)} />}
      {deleting && (
        <DeleteDialog
          path={`/v1/explorations/${id}`}
          name={e.name}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate("/") })}
          onClose={() => setDeleting(false)}
        />
      )}
      {asking && (
        <ConfirmDialog
          title="Cancel this exploration?"
          confirm="Cancel it"
          onConfirm={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        >
          Its builds that run now are stopped, and what they have done is lost. What is finished stays; Resume goes on from it.
        </ConfirmDialog>
      )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

export function ExplorationHeader({ exploration: e, counts, connected }: Props) {
  const busy = isActive(e.state);
  const now = useNow(1000, busy);
  const elapsed = e.started_at ? ((e.finished_at ? parseTime(e.finished_at) : now) - parseTime(e.started_at)) / 1000 : 0;
  // Hours of builds say nothing about the search.
  const climbs = Object.values(e.builds).some((count) => count > 0);
  const evaluated = Math.max(counts.evaluated, e.evaluated);
  return (
    <header className="page-head exploration-head">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/">Explorations</Link> <span>/</span> <code>{e.id}</code>
      </nav>
      <div className="title-row">
        <h1>
          {e.name} <span className="subtitle">{e.model.name}, {workloadText(e)} on {e.platform}</span>
        </h1>
        <StateBadge state={e.state} />
        {e.pinned && <Tag tone="accent">pinned</Tag>}
        {e.archived && <Tag tone="neutral">archived</Tag>}
        {busy && !connected && <span className="badge tone-warn">reconnecting…</span>}
        <span className="spacer" />
        <Actions exploration={e} />
      </div>
      {e.tags.length > 0 && <p className="hint tags">{e.tags.join(" · ")}</p>}
      {e.notes && <p className="pre">{e.notes}</p>}
      <dl className="stats card">
        <div className="stat stat-wide">
          <dt>Evaluated</dt>
          <dd className="num">
            <span data-testid="evaluated">{number(evaluated)}</span>
            <span className="faint"> / {number(e.budget)}</span>
            <Progress value={evaluated} max={e.budget} busy={busy} label="Designs evaluated" />
          </dd>
        </div>
        <Stat name="Feasible">{number(Math.max(counts.feasible, e.feasible))}</Stat>
        {e.distinct !== null && e.distinct < e.evaluated && (
          <Stat name="Different" title={`Designs that differ in estimated ${inWords(e.objectives, "or")}: others are the same accelerator, or too alike to tell`}>
            {number(e.distinct)}
          </Stat>
        )}
        <Stat name="On the front">{number(counts.front || e.front_size)}</Stat>
        {e.promoted > 0 && (
          <Stat name="Simulated" title="Designs that went up to the cycle simulator, and how many of them are finished">
            {number(e.simulated)}
            <span className="faint"> / {number(e.promoted)}</span>
            <Progress value={e.simulated} max={e.promoted} busy={busy} label="Designs simulated" />
          </Stat>
        )}
        {!climbs && (
          <Stat name="Throughput" title="Designs evaluated over the time since the start, import of the network included">
            {elapsed > 0 && evaluated > 0 ? `${rough(evaluated / elapsed)} /s` : "–"}
          </Stat>
        )}
        <Stat name={busy ? "Running for" : "Took"}>{e.started_at ? duration(elapsed) : "–"}</Stat>
        <Stat name="Sampler" title={`seed ${e.seed}`}>
          {e.islands > 1 ? `${e.sampler}, ${e.islands} islands` : e.sampler}
        </Stat>
        {isChosen(e.objectives) && <Stat name="Makes small">{inWords(e.objectives)}</Stat>}
        {boundsText(e.at_most) && <Stat name="At most">{boundsText(e.at_most)}</Stat>}
        {e.priority !== "normal" && <Stat name="Priority">{e.priority}</Stat>}
        {e.owner && <Stat name="Started by">{e.owner}</Stat>}
        <Stat name="Created" title={exactTime(e.created_at)}>
          {ago(e.created_at, now)}
        </Stat>
      </dl>
      <Warnings texts={e.warnings} />
      {e.waiting && (
        <div className="note note-plain" role="status" data-testid="waiting">
          <strong>Waiting</strong>
          <p>{e.waiting}</p>
        </div>
      )}
      {e.error && (
        <div className="note note-bad" role="alert">
          <strong>The exploration failed</strong>
          <p className="pre">{e.error}</p>
          <p>The designs found so far are kept; Resume goes on from them.</p>
        </div>
      )}
    </header>
  );
}
