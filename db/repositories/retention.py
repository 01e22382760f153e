"""What expires after how many days, and the rows that have.

Of an exploration that is pinned, archived or under way nothing expires, nor files and logs of a design that is pinned
or archived, or of which a build has not ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Text, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session

from db.models import (
    ACTIVE_STATES,
    OPEN_STATES,
    Artifact,
    AuditEntry,
    Build,
    Design,
    Event,
    Expiring,
    Exploration,
    IdempotencyKey,
    Retention,
)
from db.repositories._statements import insert_or_ignore, rowcount
from db.types import utcnow

DEFAULT_DAYS: Mapping[Expiring, int | None] = {"events": 90, "audit": 730, "logs": 365, "files": 365}
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class Expired:
    """What has expired of an exploration, or of no exploration: events by their newest id, and builds by their ids."""

    events_to: int = 0
    events: int = 0
    event_bytes: int = 0
    logs: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def days(session: Session) -> dict[Expiring, int | None]:
    """Days after which each expires, None for never: as an admin has said, else as Millrace comes."""
    said = {row.what: row.days for row in session.scalars(select(Retention))}
    return {what: said.get(what, default) for what, default in DEFAULT_DAYS.items()}


def set_days(session: Session, what: Expiring, after: int | None) -> None:
    """Have `what` expire after so many days, None for never."""
    if not insert_or_ignore(session, Retention, {"what": what, "days": after}):
        session.execute(update(Retention).where(Retention.what == what).values(days=after))


def ended_explorations(session: Session, before: datetime) -> Sequence[str]:
    """Ids of the explorations that ended before then and of which something may expire, oldest first."""
    query = select(Exploration.id).where(Exploration.finished_at < before, *_not_kept())
    return session.scalars(query.order_by(Exploration.id)).all()


def is_kept(exploration: Exploration) -> bool:
    """Whether nothing of it expires."""
    return exploration.pinned or exploration.archived or exploration.state in ACTIVE_STATES


def expired_of(session: Session, exploration_id: str, before: Mapping[Expiring, datetime]) -> Expired:
    """What has expired of an exploration that is not kept."""
    events = _expired_events(session, exploration_id, before["events"]) if "events" in before else (0, 0, 0)
    logs = _expired_logs(session, exploration_id, before["logs"]) if "logs" in before else frozenset[str]()
    files = _expired_files(session, exploration_id, before["files"]) if "files" in before else frozenset[str]()
    return Expired(*events, logs=logs, files=files)


def expired_imports(session: Session, before: datetime) -> frozenset[str]:
    """Imports of models that ended before then and have a log."""
    query = select(Build.id).where(Build.workload_id.is_not(None), *_log_unused(before))
    return frozenset(session.scalars(query))


def remove(session: Session, exploration_id: str | None, expired: Expired) -> None:
    """Take away what has expired; the exploration is locked. Contents of the store are not touched."""
    if expired.events:
        gone = delete(Event).where(Event.exploration_id == exploration_id, Event.id <= expired.events_to)
        _execute(session, gone)
    for build in _locked(session, expired.logs):
        build.log_digest = None
        build.history = [{**entry, "log_digest": None} for entry in build.history]
    for build in _locked(session, expired.files):
        build.expired_at = utcnow()
    for ids in _batches(expired.files):
        _execute(session, delete(Artifact).where(Artifact.build_id.in_(ids)))
    session.flush()


def old_audit(session: Session, before: datetime) -> tuple[int, int]:
    """Entries of the audit from before then, and about how many bytes they are."""
    return _size(session, AuditEntry.id, AuditEntry.detail, AuditEntry.at < before)


def old_answers(session: Session, before: datetime) -> tuple[int, int]:
    """Answers that were kept for `Idempotency-Key` before then, and about how many bytes they are."""
    return _size(session, IdempotencyKey.key, IdempotencyKey.response, IdempotencyKey.created_at < before)


def delete_audit(session: Session, before: datetime) -> int:
    """Delete the oldest entries of the audit, from before then, as many as go at once; how many."""
    oldest = select(AuditEntry.id).where(AuditEntry.at < before).order_by(AuditEntry.id).limit(_BATCH)
    return rowcount(_execute(session, delete(AuditEntry).where(AuditEntry.id.in_(oldest))))


def delete_answers(session: Session, before: datetime) -> int:
    """Delete answers from before then; how many."""
    return rowcount(_execute(session, delete(IdempotencyKey).where(IdempotencyKey.created_at < before)))


def _not_kept() -> tuple[ColumnElement[bool], ...]:
    return ~Exploration.pinned, ~Exploration.archived, Exploration.state.not_in(ACTIVE_STATES)


def _expired_events(session: Session, exploration_id: str, before: datetime) -> tuple[int, int, int]:
    """Up to the one before the last state, which tells who follows the exploration how it ended."""
    last: ScalarSelect[Any] = (
        select(func.max(Event.id)).where(Event.exploration_id == exploration_id, Event.kind == "state")
    ).scalar_subquery()
    length = func.coalesce(func.sum(func.length(cast(Event.data, Text))), 0)
    query = select(func.coalesce(func.max(Event.id), 0), func.count(), length)
    query = query.where(Event.exploration_id == exploration_id, Event.id < last, Event.created_at < before)
    newest, number, size = session.execute(query).one()
    return int(newest), int(number), int(size)


def _expired_logs(session: Session, exploration_id: str, before: datetime) -> frozenset[str]:
    query = select(Build.id).where(Build.exploration_id == exploration_id, *_log_unused(before), _design_may_expire())
    return frozenset(session.scalars(query))


def _log_unused(before: datetime) -> tuple[ColumnElement[bool], ...]:
    ended = (Build.state.not_in(OPEN_STATES), Build.finished_at < before, Build.created_at < before)
    return Build.log_digest.is_not(None), *ended


def _design_may_expire() -> ColumnElement[bool]:
    """Of a design that is neither pinned nor archived nor being built, or of no design."""
    kept = select(Design.id).where(Design.id == Build.design_id, or_(Design.pinned, Design.archived)).exists()
    return or_(Build.design_id.is_(None), ~kept & ~_being_built())


def _being_built() -> ColumnElement[bool]:
    other = Build.__table__.alias()
    return select(other.c.id).where(other.c.design_id == Build.design_id, other.c.state.in_(OPEN_STATES)).exists()


def _expired_files(session: Session, exploration_id: str, before: datetime) -> frozenset[str]:
    """Builds of designs of which no file was read, and no build was made or ended, since then. None while an area model
    is fitted, which reads reports of all designs.
    """
    fitted = select(Build.id).where(Build.stage == "calibrate", Build.state.in_(OPEN_STATES))
    if session.scalar(select(fitted.exists())):
        return frozenset()
    lately = or_(Build.created_at >= before, Build.finished_at >= before, Build.state.in_(OPEN_STATES))
    used = select(Build.id).where(Build.design_id == Design.id, lately).exists()
    unused = select(Design.id).where(
        Design.exploration_id == exploration_id,
        ~Design.pinned,
        ~Design.archived,
        func.coalesce(Design.used_at, Design.created_at) < before,
        ~used,
    )
    return frozenset(session.scalars(select(Artifact.build_id).where(Artifact.design_id.in_(unused)).distinct()))


def _size(session: Session, key: Any, text: Any, which: ColumnElement[bool]) -> tuple[int, int]:
    length = func.coalesce(func.sum(func.coalesce(func.length(cast(text, Text)), 0)), 0)
    number, size = session.execute(select(func.count(key), length).where(which)).one()
    return int(number), int(size)


def _locked(session: Session, build_ids: frozenset[str]) -> list[Build]:
    """In one order: two who lock some of them wait for each other, but not in a circle."""
    found: list[Build] = []
    for ids in _batches(build_ids):
        query = select(Build).where(Build.id.in_(ids)).order_by(Build.id).with_for_update()
        found += session.scalars(query.execution_options(populate_existing=True))
    return found


def _batches(ids: frozenset[str]) -> list[list[str]]:
    ordered = sorted(ids)
    return [ordered[start : start + 500] for start in range(0, len(ordered), 500)]  # SQLite bounds the parameters


def _execute(session: Session, statement: Any) -> Any:
    return session.execute(statement, execution_options={"synchronize_session": False})
