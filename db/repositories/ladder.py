"""What the end of one build does to others: to those that wait for it, and to those with the same key."""

from collections.abc import Generator, Sequence

from sqlalchemy import ColumnElement, case, select, update
from sqlalchemy.orm import Session

from db.models import OPEN_STATES, Build
from db.repositories import adoption, turns
from db.types import utcnow

_CHUNK = 500  # SQLite bounds the parameters of a statement


def lock_before(session: Session, build: Build) -> Build | None:
    """The build that this one waits for as it is now. Keeps it from ending until this transaction does."""
    if build.after_id is None:
        return None
    before = select(Build).where(Build.id == build.after_id).with_for_update(read=True)
    return session.scalars(before, execution_options={"populate_existing": True}).one()


def has_given_up(build: Build) -> bool:
    """Whether it has ended and nothing that waits for it can begin."""
    return build.state in ("failed", "cancelled")


def unblock(session: Session, build: Build) -> list[Build]:
    """Queue what waited for a build that is done."""
    query = select(Build).where(Build.after_id == build.id, Build.state == "blocked").order_by(Build.id)
    waiting = list(session.scalars(query.with_for_update()))
    for child in waiting:
        turns.enqueue(session, child)
    return waiting


def abandon(session: Session, build: Build) -> list[Build]:
    """Cancel what waited for a build that failed."""
    return _cancel_behind(session, [build.id], _reason(build))


def give_up(session: Session, build: Build, before: Build) -> None:
    """Cancel a build that needs one that has given up, and what waits for it."""
    _cancel(session, Build.id == build.id, _reason(before))
    _cancel_behind(session, [build.id], _reason(before))


def _reason(before: Build) -> str:
    how = f"failed: {before.error}" if before.state == "failed" else "was cancelled"
    return f"{before.stage} {before.id}, which it waited for, {how}"


def share(session: Session, build: Build, twins: Sequence[Build]) -> list[Build]:
    """End the locked `twins` as the build with their key has ended, with all that follows."""
    changed: list[Build] = []
    for twin in twins:
        adoption.adopt(session, twin, build)
        changed += [twin, *(unblock(session, twin) if twin.state == "done" else abandon(session, twin))]
    return changed


def cancel(session: Session, build_ids: Sequence[str]) -> list[Build]:
    """Cancel those that have not ended, and what waits for them, revoking leases; all that changed."""
    changed: list[Build] = []
    for ids in _chunks(build_ids):
        changed += _cancel(session, Build.id.in_(ids) & Build.state.in_(OPEN_STATES), None)
    return changed + _cancel_behind(session, build_ids, None)


def _cancel_behind(session: Session, before: Sequence[str], reason: str | None) -> list[Build]:
    changed: list[Build] = []
    while before:
        nearest: list[str] = []
        for ids in _chunks(before):
            # What is behind one that is done may wait too, for files further down that are made again.
            query = select(Build.id).where(Build.after_id.in_(ids), Build.state.in_(("blocked", "done")))
            nearest += session.scalars(query)
        for ids in _chunks(nearest):
            changed += _cancel(session, Build.id.in_(ids) & (Build.state == "blocked"), reason)
        before = nearest
    return changed


def _cancel(session: Session, which: ColumnElement[bool], reason: str | None) -> list[Build]:
    tag = case((Build.state == "running", Build.fair_tag), else_=0.0)  # one that never ran took no turn
    values = {"state": "cancelled", "error": reason, "finished_at": utcnow(), "fair_tag": tag, "not_before": None}
    values |= {"lease_owner": None, "lease_expires": None, "lease_token": Build.lease_token + 1}
    statement = update(Build).where(which).values(**values).returning(Build)
    options = {"synchronize_session": False, "populate_existing": True}
    return sorted(session.scalars(statement, execution_options=options), key=lambda build: build.id)


def _chunks(ids: Sequence[str]) -> Generator[Sequence[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield ids[start : start + _CHUNK]
