"""Builds: one stage of a workload, an exploration or a design, run at most once per key.

Who changes a build holds its lease (`leases.fence`) or changes one that nobody runs. Every function works on a few rows
that an index finds, however many builds there are.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import OPEN_STATES, Build, BuildState, Failure, Priority, Stage
from db.repositories import adoption, attempts, ladder, turns
from db.repositories._statements import insert_or_ignore
from db.repositories.new_build import NewBuild, request_text
from db.types import utcnow


@dataclass(frozen=True, slots=True)
class BuildFilter:
    """What `page` looks for; None: anything."""

    state: BuildState | None = None
    stage: Stage | None = None
    queue: str | None = None
    exploration_id: str | None = None
    design_id: str | None = None
    node: str | None = None


def ensure(session: Session, new: NewBuild) -> Build:
    """The build of this subject with this key: made now (queued, or blocked while `after_id` is not done), found in
    whatever state it is, or adopted from a twin that has ended (done, or failed where the failure lies in the inputs).
    """
    is_new = insert_or_ignore(session, Build, new.row())
    build = session.scalars(select(Build).where(*_subject(new), Build.key == new.key)).one()
    if is_new:
        _place(session, build, new.priority)
    return build


def _subject(new: NewBuild):
    if new.design_id is not None:
        return (Build.design_id == new.design_id,)
    if new.workload_id is not None:
        return (Build.workload_id == new.workload_id,)
    return Build.exploration_id == new.exploration_id, Build.design_id.is_(None), Build.workload_id.is_(None)


def _place(session: Session, build: Build, priority: Priority | None = None) -> None:
    # Waits until whoever is just ending a twin or the build before has committed: it would not see this build, and
    # this transaction not that it has ended. They lock the running one first, then those that wait.
    open_twin = select(Build.id).where(Build.key == build.key, Build.id != build.id, Build.state.in_(OPEN_STATES))
    session.execute(open_twin.order_by(Build.state.desc(), Build.id).with_for_update(read=True)).all()
    if adoption.adopt_any(session, build):
        return
    before = ladder.lock_before(session, build)
    if before is None or before.state == "done":
        turns.enqueue(session, build, priority)
    elif ladder.has_given_up(before):
        ladder.give_up(session, build, before)


@dataclass(frozen=True, slots=True)
class Asks:
    """What a build asks of a node: GB, seconds."""

    cpus: float
    memory_gb: float
    timeout_s: float | None


def requeue(session: Session, build_id: str, asks: Asks | None = None) -> bool:
    """Put a failed or cancelled build, or one of a design whose files have expired, where `ensure` would: in the queue,
    behind the build before, or at its end if a twin has ended or the build before has no good end. It asks for `asks`,
    or for what it asked before. False, and nothing happens, in another state.
    """
    build = session.get(Build, build_id, with_for_update=True, populate_existing=True)
    if build is None or not (build.state in ("failed", "cancelled") or _has_expired(build)):
        return False
    if build.failure is not None:
        attempts.remember(build, build.failure, build.error or "")
    build.state, build.failure, build.error, build.verdict = "blocked", None, None, None
    build.losses, build.attempt, build.not_before = 0, 0, None
    build.finished_at, build.adopted_from, build.expired_at = None, None, None
    if asks is not None:
        build.cpus, build.memory_gb, build.timeout_s = asks.cpus, asks.memory_gb, asks.timeout_s
        build.request = request_text(build.licence, asks.cpus, asks.memory_gb)
    session.flush()
    _place(session, build)
    return True


def _has_expired(build: Build) -> bool:
    return build.state == "done" and build.expired_at is not None and build.design_id is not None


def finish(
    session: Session,
    build: Build,
    verdict: dict[str, Any] | None,
    tool_versions: dict[str, Any],
    log_digest: str | None = None,
) -> list[Build]:
    """Record that the build is done and give its lease back; the caller has fenced, and stored its files and metrics.

    The builds that changed with it: those that waited for it, now queued; those with the same key, now done too, and
    what waited for them.
    """
    build = _end(session, build, log_digest)
    build.state, build.verdict, build.tool_versions = "done", verdict, tool_versions
    build.failure, build.error, build.expired_at = None, None, None
    session.flush()
    twins = adoption.waiting_twins(session, build)
    return ladder.unblock(session, build) + ladder.share(session, build, twins)


def fail(session: Session, build: Build, failure: Failure, error: str, log_digest: str | None = None) -> list[Build]:
    """Record that the build has failed for good and give its lease back; the caller has fenced.

    The builds that changed with it: what waited for it, now cancelled; where the failure lies in the inputs, those with
    the same key, now failed too, and what waited for them.
    """
    build = _end(session, build, log_digest)
    build.state, build.failure, build.error = "failed", failure, error
    session.flush()
    twins = adoption.waiting_twins(session, build) if failure == "infeasible" else []
    return ladder.abandon(session, build) + ladder.share(session, build, twins)


def retry_later(
    session: Session,
    build: Build,
    failure: Failure,
    error: str,
    not_before: datetime | None,
    log_digest: str | None = None,
) -> None:
    """Queue the build again, behind what waits already, to start after `not_before`; the failed attempt is kept in
    its history. The caller has fenced.
    """
    build = _end(session, build, log_digest)
    attempts.remember(build, failure, error)
    build.failure, build.error, build.not_before, build.finished_at = None, None, not_before, None
    turns.enqueue(session, build)


def cancel(session: Session, build_ids: Sequence[str]) -> list[Build]:
    """Cancel those that have not ended, and what waits for them; revokes their holders' leases. All that changed."""
    return ladder.cancel(session, build_ids)


def get(session: Session, build_id: str) -> Build:
    """Raises NotFoundError."""
    build = session.get(Build, build_id)
    if build is None:
        raise NotFoundError("build", build_id)
    return build


def of_design(session: Session, design_id: str) -> Sequence[Build]:
    """Newest first."""
    return session.scalars(select(Build).where(Build.design_id == design_id).order_by(Build.id.desc())).all()


def lock_import(session: Session, workload_id: str) -> list[Build]:
    """Builds of the workload that have not ended, locked: none of them is queued again or ends meanwhile."""
    query = select(Build).where(Build.workload_id == workload_id, Build.state.in_(OPEN_STATES)).order_by(Build.id)
    return list(session.scalars(query.with_for_update(), execution_options={"populate_existing": True}))


def of_exploration(session: Session, exploration_id: str, *stages: Stage) -> Sequence[Build]:
    """Builds of these stages, all without any, of the exploration and of its designs, oldest first."""
    query = select(Build).where(*_in_exploration(exploration_id, stages)).order_by(Build.id)
    return session.scalars(query).all()


def has_open(session: Session, exploration_id: str, *stages: Stage) -> bool:
    """Whether a build of these stages, of any without some, has not ended. One probe per state and stage."""
    query = select(Build.id).where(*_in_exploration(exploration_id, stages or get_args(Stage)))
    return bool(session.scalar(select(query.where(Build.state.in_(OPEN_STATES)).exists())))


def page(session: Session, filters: BuildFilter, before: str | None, limit: int) -> Sequence[Build]:
    """Newest first, those older than id `before`."""
    query = select(Build).order_by(Build.id.desc()).limit(limit)
    for name, value in asdict(filters).items():
        if value is not None:
            query = query.where(getattr(Build, name) == value)
    return session.scalars(query if before is None else query.where(Build.id < before)).all()


def _in_exploration(exploration_id: str, stages: Sequence[Stage]) -> tuple[ColumnElement[bool], ...]:
    whole = Build.exploration_id == exploration_id
    return (whole, Build.stage.in_(stages)) if stages else (whole,)


def _end(session: Session, build: Build, log_digest: str | None) -> Build:
    build = get(session, build.id)  # the caller's may belong to another session
    now = utcnow()
    build.finished_at, build.log_digest = now, log_digest or build.log_digest
    build.lease_owner, build.lease_expires = None, None
    build.seconds = None if build.started_at is None else (now - build.started_at).total_seconds()
    return build
