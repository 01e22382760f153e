"""Whose turn it is within one owner's share of a queue: start-time fair queuing over explorations.

A build that is queued gets a tag: one step, which is shorter the higher the priority, after the later of the queue's
virtual time and the tag of its exploration's last build. The least tag goes first. The virtual time is the greatest tag
that was taken, so that a newcomer starts level with the others, and nobody waits behind infinitely many newcomers.
"""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Select, bindparam, func, literal_column, select, union_all
from sqlalchemy.orm import Session

from db.models import Build, BuildState, Exploration, Priority

_STEPS: Mapping[Priority, float] = {"low": 1.0, "normal": 1 / 4, "high": 1 / 16}
_TAKEN: tuple[BuildState, ...] = ("running", "done", "failed", "cancelled")
"""States of a build that had its turn; the tag of one that had none is 0."""


_GREATEST = select(func.max(Build.fair_tag).label("tag"))


def _level(of_exploration: ColumnElement[bool]) -> Select[float]:
    """The later of the queue's virtual time and the tag of the exploration's last build: one probe of ix_builds_taken
    for each state, where a query over all states would read every tag, and one of ix_builds_share.
    """
    in_queue = Build.queue == bindparam("queue")
    # The condition of the index, literally: SQLite does not see that it follows from the state.
    of_owner = (in_queue, Build.owner == bindparam("owner"), Build.state != literal_column("'queued'"))
    taken = [_GREATEST.where(*of_owner, Build.state == state) for state in _TAKEN]
    found = union_all(_GREATEST.where(in_queue, of_exploration), *taken).subquery()
    return select(func.max(found.c.tag))


# Built once: building a statement takes longer than running it.
LEVEL = _level(Build.exploration_id == bindparam("exploration"))
_LEVEL_OF_NONE = _level(Build.exploration_id.is_(None))


def enqueue(session: Session, build: Build, priority: Priority | None = None) -> None:
    """Put the build at its place in the queue. `priority`: its exploration's unless it is given."""
    step = _STEPS[priority or _priority(session, build)]
    mine = {"queue": build.queue, "owner": build.owner, "exploration": build.exploration_id}
    level = session.scalar(_LEVEL_OF_NONE if build.exploration_id is None else LEVEL, mine)
    build.state, build.node, build.fair_tag = "queued", None, (level or 0.0) + step
    session.flush()


def _priority(session: Session, build: Build) -> Priority:
    if build.exploration_id is None:
        return "normal"
    return session.scalars(select(Exploration.priority).where(Exploration.id == build.exploration_id)).one()
