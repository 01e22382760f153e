"""What a worker and its executors say to each other: an order a job, a reply a job, as JSON."""

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

Status = Literal["recorded", "lost"]


@dataclass(frozen=True, slots=True)
class Order:
    """One job: build and lease, the file that takes its output, and the file's name below the log folder."""

    build_id: str
    token: int
    stage: str
    log: str

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def decode(data: bytes) -> "Order":
        return Order(**json.loads(data))


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of it: the result is recorded, good or bad, or nothing is, since the lease was lost.

    `tickets` are queues to wake, `retire` says why a fresh process takes the next job, `disk_full` that the job, or
    what it had to record, found no room.
    """

    status: Status = "recorded"
    tickets: list[str] = field(default_factory=list[str])
    disk_full: bool = False
    retire: str | None = None

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def decode(data: bytes) -> "Reply":
        return Reply(**json.loads(data))
