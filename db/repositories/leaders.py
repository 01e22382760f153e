"""Who does what only one process of the farm does at a time. Callers' clocks are compared, as for leases."""

from datetime import timedelta

from sqlalchemy import delete, or_, select, update
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


def take_turn(session: Session, task: str, holder: str, seconds: float) -> bool:
    """Whether it is `holder`'s to do the task now: somebody's once in so many seconds."""
    now = utcnow()
    insert_or_ignore(session, Leader, {"task": task, "holder": None, "expires": None})
    due = or_(Leader.expires.is_(None), Leader.expires < now)
    row = update(Leader).where(Leader.task == task, due)
    taken = row.values(holder=holder, expires=now + timedelta(seconds=seconds))
    return rowcount(session.execute(taken, execution_options={"synchronize_session": False})) > 0


def is_led(session: Session, task: str) -> bool:
    """Whether somebody leads the task now."""
    query = select(Leader.task).where(Leader.task == task, Leader.holder.is_not(None), Leader.expires > utcnow())
    return session.scalars(query).first() is not None


def end(session: Session, task: str, holder: str) -> None:
    """Lead the task no more, and forget that anybody did."""
    row = delete(Leader).where(Leader.task == task, Leader.holder == holder)
    session.execute(row, execution_options={"synchronize_session": False})


def resign(session: Session, task: str, holder: str) -> None:
    """Let another one lead at once; nothing happens when `holder` does not lead."""
    row = update(Leader).where(Leader.task == task, Leader.holder == holder)
    session.execute(row.values(holder=None, expires=None), execution_options={"synchronize_session": False})
