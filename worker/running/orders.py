"""What a worker and its executors say to each other, pickled: an order a job, a reply a job."""

from dataclasses import dataclass, field
from typing import Literal

from db.models import Build

Status = Literal["recorded", "lost"]


@dataclass(frozen=True, slots=True)
class Order:
    """One job: build and lease, the file that takes its output, and the build as it was claimed (None: to be read).

    `more`: the slot has claimed another build of its exploration and stage, which runs after it.
    """

    build_id: str
    token: int
    stage: str
    log: str
    build: Build | None = field(default=None, repr=False, compare=False)
    more: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of it: the result is recorded, good or bad, or nothing is, since the lease was lost.

    `tickets` are queues to wake, `retire` says why a fresh process takes the next job.
    """

    status: Status = "recorded"
    tickets: list[str] = field(default_factory=list[str])
    retire: str | None = None
