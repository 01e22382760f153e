"""Whose turn it is between the owners of a queue's builds: theirs who had fewest turns while others waited too."""

from collections.abc import Iterable

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session

from db.models import QueueShare
from db.repositories._statements import insert_or_ignore

_CREDIT = 1.0
"""Turns that one who was away may be behind: more would let them take every turn for a while when they return."""


def served(session: Session, queue: str, owners: Iterable[str]) -> dict[str, float]:
    """The turns that each owner has had in the queue."""
    rows = session.execute(select(QueueShare.owner, QueueShare.served).where(QueueShare.queue == queue)).all()
    known = {row.owner: row.served for row in rows}
    least = max(known.values(), default=0.0) - _CREDIT
    return {owner: max(known.get(owner, 0.0), least) for owner in owners}


def charge(session: Session, queue: str, owner: str, before: float, turns: int = 1) -> None:
    """Count `turns` more of an owner who has had `before`."""
    insert_or_ignore(session, QueueShare, {"queue": queue, "owner": owner, "served": before})
    now = case((QueueShare.served > before, QueueShare.served), else_=before)  # others may have charged meanwhile
    row = update(QueueShare).where(QueueShare.queue == queue, QueueShare.owner == owner)
    session.execute(row.values(served=now + turns), execution_options={"synchronize_session": False})
