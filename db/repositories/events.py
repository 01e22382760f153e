"""The log of an exploration, read by the event stream."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.models import Event
from db.repositories import explorations


def append(session: Session, exploration_id: str, kind: str, data: dict[str, Any]) -> None:
    """Add an event. Locks the exploration, so that ids become visible in order and a reader never skips one. It
    is written with what else the session has to write.
    """
    explorations.lock(session, exploration_id)
    session.add(Event(exploration_id=exploration_id, kind=kind, data=data))


def since(session: Session, exploration_id: str, last_id: int, limit: int = 200) -> Sequence[Event]:
    """Events after `last_id`, oldest first."""
    query = select(Event).where(Event.exploration_id == exploration_id, Event.id > last_id).order_by(Event.id)
    return session.scalars(query.limit(limit)).all()


def last_id(session: Session, exploration_id: str) -> int:
    """Id of the newest event, 0 when there is none."""
    return session.scalar(select(func.max(Event.id)).where(Event.exploration_id == exploration_id)) or 0
