"""Sweeps and their runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, delete, or_, select, update
from sqlalchemy.orm import Session

from db.errors import ConflictError, NotFoundError
from db.ids import new_id
from db.models import Exploration, Misfire, Sweep, SweepRun, SweepRunState
from db.repositories._statements import insert_or_ignore
from db.types import utcnow

_GOOD: tuple[SweepRunState, ...] = ("same", "changed")


def add(
    session: Session,
    name: str,
    cron: str,
    zone: str,
    misfire: Misfire,
    matrix: dict[str, Any],
    options: dict[str, Any],
    *,
    webhook: str | None = None,
    webhook_secret: str | None = None,
    owner: str | None = None,
    next_at: datetime | None = None,
) -> Sweep:
    """Store one, its secret sealed; it is enabled when it has a next time. Raises ConflictError when the name is
    taken.
    """
    row = {"id": new_id("swp"), "name": name, "cron": cron, "zone": zone, "misfire": misfire, "matrix": matrix}
    row |= {"options": options, "webhook": webhook, "webhook_secret": webhook_secret, "owner": owner}
    row |= {"next_at": next_at, "enabled": next_at is not None}
    if not insert_or_ignore(session, Sweep, row):
        raise ConflictError(f"a sweep named {name!r} exists; choose another name, or remove it first")
    return session.get_one(Sweep, row["id"])


def get(session: Session, key: str) -> Sweep:
    """The sweep with this id, or else this name. Raises NotFoundError."""
    return _found(session.scalars(_called(key)).first(), key)


def lock(session: Session, key: str) -> Sweep:
    """The sweep with this id, or else this name, kept from changes and runs by others until this transaction ends.
    Raises NotFoundError.
    """
    query = _called(key).with_for_update().execution_options(populate_existing=True)
    return _found(session.scalars(query).first(), key)


def _called(key: str) -> Select[Sweep]:
    # A person may call one like another's id.
    return select(Sweep).where(or_(Sweep.id == key, Sweep.name == key)).order_by(case((Sweep.id == key, 0), else_=1))


def _found(sweep: Sweep | None, key: str) -> Sweep:
    if sweep is None:
        raise NotFoundError("sweep", key, "millrace sweep list shows them")
    return sweep


def by_name(session: Session, name: str) -> Sweep | None:
    """None when there is none."""
    return session.scalars(select(Sweep).where(Sweep.name == name)).first()


def page(session: Session, before: str | None, limit: int) -> Sequence[Sweep]:
    """Newest first, those older than id `before`."""
    query = select(Sweep).order_by(Sweep.id.desc()).limit(limit)
    return session.scalars(query if before is None else query.where(Sweep.id < before)).all()


def sealed(session: Session) -> Sequence[tuple[str, str]]:
    """Names of the sweeps with a secret, and the secrets as they are stored."""
    query = select(Sweep.name, Sweep.webhook_secret).where(Sweep.webhook_secret.is_not(None)).order_by(Sweep.name)
    return [(name, secret or "") for name, secret in session.execute(query)]


def remove(session: Session, sweep_id: str) -> None:
    """Remove a sweep with its runs; their explorations stay, as ones of no sweep."""
    runs = select(SweepRun.id).where(SweepRun.sweep_id == sweep_id)
    alone = {"synchronize_session": False}
    orphans = update(Exploration).where(Exploration.sweep_run_id.in_(runs)).values(sweep_run_id=None)
    session.execute(orphans, execution_options=alone)
    without = update(SweepRun).where(SweepRun.sweep_id == sweep_id).values(baseline_id=None)
    session.execute(without, execution_options=alone)
    session.execute(delete(SweepRun).where(SweepRun.sweep_id == sweep_id), execution_options=alone)
    session.execute(delete(Sweep).where(Sweep.id == sweep_id), execution_options=alone)
    session.expire_all()


def set_next(session: Session, sweep_id: str, next_at: datetime | None) -> None:
    """When the tick runs it next; None disables it."""
    values = {"next_at": next_at, "enabled": next_at is not None}
    session.execute(update(Sweep).where(Sweep.id == sweep_id).values(**values))


def due(session: Session, now: datetime | None = None) -> Sequence[Sweep]:
    """Sweeps whose time has come, the longest waiting first."""
    return session.scalars(select(Sweep).where(Sweep.next_at <= (now or utcnow())).order_by(Sweep.next_at)).all()


def start(
    session: Session, sweep_id: str, cause: str, scheduled_for: datetime | None, baseline_id: str | None
) -> SweepRun:
    """A new run, to be compared with the run `baseline_id`. The caller has locked the sweep."""
    run = SweepRun(id=new_id("run"), sweep_id=sweep_id, baseline_id=baseline_id, state="running", cause=cause)
    run.scheduled_for, run.tool_versions = scheduled_for, {}
    session.add(run)
    session.flush()
    return run


def note_skipped(session: Session, sweep_id: str, scheduled_for: datetime | None, why: str) -> SweepRun:
    """Keep in the list of runs that one was not started."""
    run = start(session, sweep_id, "schedule", scheduled_for, None)
    finish(session, run, "cancelled", None, {}, why)
    return run


def finish(
    session: Session,
    run: SweepRun,
    state: SweepRunState,
    comparison: dict[str, Any] | None,
    tool_versions: Mapping[str, Any],
    error: str | None,
) -> None:
    """Record how a locked run ended."""
    run.state, run.comparison, run.error = state, comparison, error
    run.tool_versions, run.finished_at = dict(tool_versions), run.finished_at or utcnow()
    session.flush()


def get_run(session: Session, run_id: str) -> SweepRun:
    """Raises NotFoundError."""
    return _found_run(session.get(SweepRun, run_id), run_id)


def lock_run(session: Session, run_id: str) -> SweepRun:
    """The run, kept from changes by others until this transaction ends. Raises NotFoundError."""
    return _found_run(session.get(SweepRun, run_id, with_for_update=True, populate_existing=True), run_id)


def _found_run(run: SweepRun | None, run_id: str) -> SweepRun:
    if run is None:
        raise NotFoundError("sweep run", run_id)
    return run


def last_good(session: Session, sweep_id: str) -> SweepRun | None:
    """The newest run of the sweep that showed no regression."""
    query = select(SweepRun).where(SweepRun.sweep_id == sweep_id, SweepRun.state.in_(_GOOD))
    return session.scalars(query.order_by(SweepRun.id.desc()).limit(1)).first()


def running(session: Session, sweep_id: str) -> SweepRun | None:
    """The sweep's run that has not ended."""
    query = select(SweepRun).where(SweepRun.sweep_id == sweep_id, SweepRun.state == "running")
    return session.scalars(query.order_by(SweepRun.id.desc()).limit(1)).first()


def all_running(session: Session) -> Sequence[SweepRun]:
    """Runs that have not ended, oldest first."""
    return session.scalars(select(SweepRun).where(SweepRun.state == "running").order_by(SweepRun.id)).all()


def runs_page(session: Session, sweep_id: str, before: str | None, limit: int) -> Sequence[SweepRun]:
    """Runs of the sweep, newest first, those older than id `before`."""
    query = select(SweepRun).where(SweepRun.sweep_id == sweep_id).order_by(SweepRun.id.desc()).limit(limit)
    return session.scalars(query if before is None else query.where(SweepRun.id < before)).all()
