"""Who does what only one process of the farm does at a time. Callers' clocks are compared, as for leases."""

from datetime import timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from db.models import Leader
from db.repositories._statements import insert_or_ignore, rowcount
from db.types import utcnow


def lead(session: Session, task: str, holder: str, seconds: float) -> bool:
    """Make `holder` the leader of the task, or keep it so, for `seconds`; False while another one is."""
    now = utcnow()
    insert_or_ignore(session, Leader, {"task": task, "holder": None, "expires": None})
    free = or_(Leader.holder.is_(None), Leader.holder == holder, Leader.expires < now)
    row = update(Leader).where(Leader.task == task, free)
    taken = row.values(holder=holder, expires=now + timedelta(seconds=seconds))
    return rowcount(session.execute(taken, execution_options={"synchronize_session": False})) > 0


def holder(session: Session, task: str) -> str | None:
    """Who leads the task, or was the last to; None where nobody did."""
    return session.scalars(select(Leader.holder).where(Leader.task == task)).first()


def resign(session: Session, task: str, holder: str) -> None:
    """Let another one lead at once; nothing happens when `holder` does not lead."""
    row = update(Leader).where(Leader.task == task, Leader.holder == holder)
    session.execute(row.values(holder=None, expires=None), execution_options={"synchronize_session": False})
