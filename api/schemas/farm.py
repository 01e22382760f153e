"""The farm: whether its parts answer, its nodes, queues and licences."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.builds import Build
from api.schemas.common import Reply, Request
from db.models import NodeState


class Health(Reply):
    """`degraded`: requests are answered, but work waits (no broker or no worker)."""

    status: Literal["ok", "degraded"]
    version: str
    database: bool
    broker: bool
    workers: int
    detail: str | None = None


class Alive(Reply):
    """This process answers requests; whether it can do its work is what `ready` says."""

    status: Literal["ok"] = "ok"


class Ready(Reply):
    """`ready`: the database answers and has this release's tables, and the broker answers."""

    status: Literal["ready", "not ready"]
    detail: str | None = None


class Node(Reply):
    """A machine of the farm. `capabilities`: tool versions by queue; `missing`: why it can not do something, by what.

    `present`: it has reported lately. `cpus` and `memory_gb` are what it may use, `used_cpus` and `used_memory_gb` what
    its running builds ask for.
    """

    name: str
    state: NodeState
    present: bool
    capabilities: dict[str, Any]
    missing: dict[str, Any]
    cpus: float
    memory_gb: float
    used_cpus: float
    used_memory_gb: float
    running: int
    version: str
    first_seen: datetime
    last_seen: datetime


class QueueState(Reply):
    """A queue: builds that wait in it and that run, seconds that the oldest waits, active nodes that serve it."""

    name: str
    waiting: int
    running: int
    oldest_s: float | None
    nodes: int


class Licence(Reply):
    """Tokens of a licence feature, and how many of them running builds have."""

    feature: str
    tokens: int
    used: int


class Farm(Reply):
    """All of it at a glance; `running`: what runs now, longest first, the first hundred."""

    nodes: list[Node]
    queues: list[QueueState]
    licences: list[Licence]
    running: list[Build]


class NodeChange(Request):
    """`draining`: it finishes what it runs and takes nothing more; `paused`: it also gives back what it runs."""

    state: NodeState


class Joining(Request):
    """A machine that wants to work for the farm, and its version of Millrace."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    version: Annotated[str, Field(max_length=100)]


class Joined(Reply):
    """What its worker needs: `environment` has variables, secrets among them; `probe` is the digest of a content that
    the farm's store has, `revision` that of its database.
    """

    version: str
    revision: str
    environment: dict[str, str]
    probe: str


class Tokens(Request):
    """How many builds that need the feature may run at once."""

    tokens: Annotated[int, Field(ge=0, le=100_000)]
