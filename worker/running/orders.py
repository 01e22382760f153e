"""What a worker and its executors say to each other, pickled: an order a job, a reply a job."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from worker.limits.group import Counters, Group
from worker.limits.table import Limits

if TYPE_CHECKING:  # a second of processor time, which only who makes an order has spent anyway
    from db.models import Build

Status = Literal["recorded", "lost"]


@dataclass(frozen=True, slots=True)
class Order:
    """One job: build and lease, the file that takes its output, a folder that is not there yet for it to write in, what
    it is held to, and the build as it was claimed (None: to be read).

    `more`: the slot has claimed another build of its exploration and stage, which runs after it. `group` holds it to
    its limits, and had counted `since` when it began; the executor adds them.
    """

    build_id: str
    token: int
    stage: str
    log: str
    scratch: str
    limits: Limits
    build: "Build | None" = field(default=None, repr=False, compare=False)
    more: bool = False
    group: Group | None = None
    since: Counters = field(default_factory=Counters)


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of it: the result is recorded, good or bad, or nothing is, since the lease was lost.

    `tickets` are queues to wake, `retire` says why a fresh process takes the next job.
    """

    status: Status = "recorded"
    tickets: list[str] = field(default_factory=list[str])
    retire: str | None = None
