"""Who changed what, when and from where. Rows are added, and expire; none is changed."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import AuditEntry


def append(
    session: Session, who: str | None, address: str, action: str, target: str | None, detail: dict[str, Any]
) -> None:
    """`who`: the API key's name, None without access control; `action` such as "exploration.start"; `target` an id."""
    session.add(AuditEntry(who=who, address=address, action=action, target=target, detail=detail))
    session.flush()


def page(session: Session, who: str | None, before: int | None, limit: int) -> Sequence[AuditEntry]:
    """Newest first, those older than id `before`; of everybody, or of `who`."""
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    query = query if who is None else query.where(AuditEntry.who == who)
    return session.scalars(query if before is None else query.where(AuditEntry.id < before)).all()
