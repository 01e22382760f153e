"""The farm: whether its parts answer, its nodes, queues and licences."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.builds import Build
from api.schemas.common import Reply, Request
from db.models import NodeState


class Health(Reply):
    """How the service is. `degraded`: requests are answered, but work waits (no broker or no worker)."""

    status: Literal["ok", "degraded"]
    """Whether work can be done."""
    version: str
    """Millrace's version."""
    database: bool
    """Whether the database answers."""
    broker: bool
    """Whether Redis answers."""
    workers: int
    """Workers that answer."""
    detail: str | None = None
    """What is wrong, in words; null where nothing is."""


class Alive(Reply):
    """This process answers requests; whether it can do its work is what `ready` says."""

    status: Literal["ok"] = "ok"
    """Always "ok"."""


class Ready(Reply):
    """Whether requests can be answered."""

    status: Literal["ready", "not ready"]
    """"ready": the database answers and has this release's tables, and the broker answers."""
    detail: str | None = None
    """What is wrong, in words; null where nothing is."""


class Node(Reply):
    """A machine of the farm."""

    name: str
    """What it calls itself."""
    state: NodeState
    """Whether it takes work: active does, draining finishes what it runs, paused runs nothing."""
    present: bool
    """Whether it has reported lately."""
    capabilities: dict[str, Any]
    """What it can do: tool versions by queue."""
    missing: dict[str, Any]
    """Why it can not do something, by what."""
    cpus: float
    """CPU cores that it may use."""
    memory_gb: float
    """Memory that it may use, GB (of 2**30 bytes)."""
    used_cpus: float
    """CPU cores that its running builds ask for."""
    used_memory_gb: float
    """Memory that its running builds ask for, GB (of 2**30 bytes)."""
    running: int
    """Builds that it runs."""
    disk: dict[str, Any]
    """Bytes that it holds on its disk, by what they are for: scratch of builds that run, bundles (imported models),
    store and cache (artifacts), models, database, logs, other. Empty until they were counted."""
    version: str
    """Its version of Millrace."""
    first_seen: datetime
    """When it first reported, UTC."""
    last_seen: datetime
    """When it last reported, UTC."""


class QueueState(Reply):
    """A queue of builds that need one capability."""

    name: str
    """The capability."""
    waiting: int
    """Builds that wait in it."""
    running: int
    """Builds of it that run."""
    oldest_s: float | None
    """Seconds that the oldest has waited; null where none waits."""
    nodes: int
    """Active nodes that serve it."""


class Licence(Reply):
    """A licence feature that builds take tokens of."""

    feature: str
    """Name of the feature."""
    tokens: int
    """Tokens that there are."""
    used: int
    """Tokens that running builds have."""


class Farm(Reply):
    """All of the farm at a glance."""

    nodes: list[Node]
    """Its machines."""
    queues: list[QueueState]
    """Its queues."""
    licences: list[Licence]
    """Its licences."""
    running: list[Build]
    """What runs now, longest first, the first hundred."""


class NodeChange(Request):
    """Whether a node is to take work."""

    state: NodeState
    """`draining`: it finishes what it runs and takes nothing more; `paused`: it also gives back what it runs."""


class Joining(Request):
    """A machine that wants to work for the farm."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """What it calls itself."""
    version: Annotated[str, Field(max_length=100)]
    """Its version of Millrace."""


class Joined(Reply):
    """What the worker of a machine that joins needs."""

    version: str
    """The farm's version of Millrace."""
    revision: str
    """The revision of the farm's database."""
    environment: dict[str, str]
    """Variables for the worker, secrets among them."""
    probe: str
    """SHA-256 of a content that the farm's store has."""


class Retention(Reply):
    """After how many days things expire; null: never. Nothing does of an exploration that is under way, pinned,
    archived, or one that a sweep compares with.
    """

    events: int | None
    """Days after which events of an exploration that has ended go, but for how it ended."""
    audit: int | None
    """Days after which entries of the audit go."""
    logs: int | None
    """Days after which logs of builds that have ended go."""
    files: int | None
    """Days since a design was last built, or a file of it read, after which its files go; they can be made again."""


_Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionChange(Request):
    """What is to expire after another time; only the fields that are given change, null is never."""

    events: _Days | None = None
    """Days after which events of an exploration that has ended go, but for how it ended."""
    audit: _Days | None = None
    """Days after which entries of the audit go."""
    logs: _Days | None = None
    """Days after which logs of builds that have ended go."""
    files: _Days | None = None
    """Days since a design was last built, or a file of it read, after which its files go; they can be made again."""


class Tokens(Request):
    """Licence tokens that there are."""

    tokens: Annotated[int, Field(ge=0, le=100_000)]
    """How many builds that need the feature may run at once."""
