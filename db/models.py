"""The tables. Rows are created by the repositories; times are UTC; ids are prefixed strings that sort by age."""

from datetime import datetime
from typing import Any, ClassVar, Literal, get_args

from sqlalchemy import (
    JSON,
    BigInteger,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from db.types import UtcDateTime, utcnow

ExplorationState = Literal[
    "queued", "lowering", "searching", "simulating", "verifying", "building", "done", "failed", "cancelled"
]
BuildState = Literal["blocked", "queued", "running", "done", "failed", "cancelled"]
"""`blocked`: waits for the build `after_id`; `queued`: may be taken once `not_before` has passed."""
DesignStage = Literal["simulate", "csim", "csynth", "cosim", "link", "measure"]
"""Stages that one design goes through, in the order of the ladder."""
Stage = Literal["lower", "search", DesignStage, "calibrate"]
Failure = Literal["infeasible", "tool", "licence", "node", "timeout", "limit"]
"""Why a build failed. `infeasible` lies in the inputs, `limit` in what they need beside what the build asked for; the
others may be tried again.
"""
Priority = Literal["low", "normal", "high"]
Role = Literal["viewer", "user", "node", "admin"]
NodeState = Literal["active", "draining", "paused"]
SweepRunState = Literal["running", "same", "changed", "regressed", "failed", "cancelled"]
Misfire = Literal["skip", "run_once"]
Expiring = Literal["events", "audit", "logs", "files"]
"""What retention takes away: `logs` and `files` are those of builds."""

DESIGN_STAGES: tuple[DesignStage, ...] = get_args(DesignStage)
ACTIVE_STATES: tuple[ExplorationState, ...] = (
    "queued", "lowering", "searching", "simulating", "verifying", "building"
)  # fmt: skip
OPEN_STATES: tuple[BuildState, ...] = ("blocked", "queued", "running")
"""Builds that are not at their end."""

_OF_EXPLORATION = "design_id IS NULL AND workload_id IS NULL"
_BUILT = ("exploration_id", "accelerator")
_RATED = ("exploration_id", "number", "id", "latency_us", "simulated_us")
_ID = String(32)
MAX_NAME = 240
"""Characters of an exploration's name: a made one holds a model's."""
_DIGEST = String(64)


def _partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        float: Double,
    }


class Model(Base):
    """A network: a built-in name, an uploaded config.json, or an uploaded file in the store.

    `kind` is "builtin", "config" or the file's format; `config` the configuration, or the file's digest, that of the
    `samples` that came with it, where any did, and the size of both.
    `owner` is the name of the API key that added it, None without access control. `archived`: lists leave it out.
    """

    __tablename__ = "models"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    config: Mapped[dict[str, Any]]
    digest: Mapped[str] = mapped_column(_DIGEST)
    owner: Mapped[str | None] = mapped_column(String(100), index=True)
    archived: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Workload(Base):
    """model x phase x length x batch x precision x layers x ports; `bundle_key` names its bundle once lowered."""

    __tablename__ = "workloads"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    model_id: Mapped[str] = mapped_column(ForeignKey("models.id"), index=True)
    phase: Mapped[str] = mapped_column(String(16))
    length: Mapped[int]
    batch: Mapped[int]
    precision: Mapped[str] = mapped_column(String(16))
    layers: Mapped[int]
    ports: Mapped[str] = mapped_column(String(8), server_default="f32")
    digest: Mapped[str] = mapped_column(_DIGEST, unique=True)
    bundle_key: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    model: Mapped[Model] = relationship(lazy="joined")


class Exploration(Base):
    """One search: workload x platform x objectives x budget x sampler. `objectives` are names of `dse.objectives`.
    `owner` is the name of the API key that started it, None without access control; `sweep_run_id` the sweep's run that
    it belongs to. `name`, `tags` and `notes` are people's; no two have one name. `archived`: lists leave it out;
    `pinned`: nobody deletes it. Of either retention takes nothing.
    """

    __tablename__ = "explorations"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME), unique=True)
    tags: Mapped[list[Any]] = mapped_column(default=list)
    notes: Mapped[str] = mapped_column(Text, default="")
    archived: Mapped[bool] = mapped_column(default=False)
    pinned: Mapped[bool] = mapped_column(default=False)
    workload_id: Mapped[str] = mapped_column(ForeignKey("workloads.id"), index=True)
    platform: Mapped[str] = mapped_column(String(64))
    objectives: Mapped[list[Any]]
    options: Mapped[dict[str, Any]]
    budget: Mapped[int]
    state: Mapped[ExplorationState] = mapped_column(String(16), index=True)
    priority: Mapped[Priority] = mapped_column(String(8), default="normal")
    owner: Mapped[str | None] = mapped_column(String(100), index=True)
    sweep_run_id: Mapped[str | None] = mapped_column(ForeignKey("sweep_runs.id"), index=True)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    workload: Mapped[Workload] = relationship(lazy="joined")


class Design(Base):
    """One evaluated point of the space. `number` is its order in the search, `key` the digest of its knobs,
    `accelerator` that of what they build: null where nothing can be, and in designs from before it was kept.

    `feasible`, `latency_us`, `energy_uj` and `objectives` are the estimate's; the last are those of the exploration, in
    its order, none where it can not be built. `simulated_us` is the simulated latency, at the clock
    of the link where there is one, and `refuted` why the simulation says that it can not be built: a deadlock, or a
    budget that it exceeds with certified FIFOs; both null until then. `on_front`: on the Pareto front of the estimates,
    among the designs that are not refuted. `flags`: values that can not be (see compiler.analysis.limits). `tags` and
    `notes` are people's, `archived` and `pinned` as of an exploration. `used_at` is when somebody last read a file of
    it, to the day.
    """

    __tablename__ = "designs"
    __table_args__ = (
        UniqueConstraint("exploration_id", "key"),
        UniqueConstraint("exploration_id", "number"),
        # What lists count and the front, without the rows, which are wide.
        Index("ix_designs_front", "exploration_id", "on_front", "number", "feasible"),
        _partial_index("ix_designs_accelerator", *_BUILT, where="accelerator IS NOT NULL", unique=True),
        _partial_index("ix_designs_simulated", *_RATED, where="simulated_us IS NOT NULL"),
    )

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    exploration_id: Mapped[str] = mapped_column(ForeignKey("explorations.id"))
    number: Mapped[int]
    key: Mapped[str] = mapped_column(String(128))
    accelerator: Mapped[str | None] = mapped_column(String(32))
    knobs: Mapped[dict[str, Any]]
    feasible: Mapped[bool]
    latency_us: Mapped[float | None]
    energy_uj: Mapped[float | None]
    objectives: Mapped[list[Any]] = mapped_column(default=list)
    violations: Mapped[list[Any]]
    reason: Mapped[str | None] = mapped_column(Text)
    on_front: Mapped[bool] = mapped_column(default=False)
    simulated_us: Mapped[float | None]
    refuted: Mapped[str | None] = mapped_column(Text)
    flags: Mapped[list[Any]] = mapped_column(default=list)
    tags: Mapped[list[Any]] = mapped_column(default=list)
    notes: Mapped[str] = mapped_column(Text, default="")
    archived: Mapped[bool] = mapped_column(default=False)
    pinned: Mapped[bool] = mapped_column(default=False)
    used_at: Mapped[datetime | None]
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Build(Base):
    """One stage run on the farm. `key` digests its inputs, tool versions and options: equal keys, equal results.

    Of a workload (`lower`), of an exploration (`search`, `calibrate`), or of a design, whose exploration is named too.
    A stage that reads another one's results waits for the build `after_id`.

    Queue: a worker takes, of the capabilities (`queue`) that its node has, the queued build with the least `fair_tag`
    (start-time fair queuing) whose `licence` has a token left and whose `cpus` and `memory_gb` the node still has.
    `request` is these three as text: builds with equal ones are takeable alike. A build that was never taken and will
    not be (cancelled, adopted) has the tag 0: it took nobody's turn.

    Lease (design section 6): a worker holds a running build while `lease_expires` lies ahead and renews it; each taking
    raises `lease_token`, and every write of the work is conditional on the token, so that a worker that lost its lease
    cannot write. `losses` counts leases that ran out; the reaper gives up after a few. No two builds with one key run
    at the same time.

    `attempt` counts runs since it was last queued by a person or a flow; `history` holds the failed ones. `seconds` is
    how long the last run took, None for a result that was adopted. `expired_at` is when what it left was taken away: no
    other build adopts it, and it is run again when somebody asks for it.
    """

    __tablename__ = "builds"
    __table_args__ = (
        UniqueConstraint("design_id", "key"),
        UniqueConstraint("workload_id", "key"),
        Index("ix_builds_queue", "state", "queue", "owner", "request", "fair_tag", "id"),
        Index("ix_builds_flow", "exploration_id", "stage", "state"),
        Index("ix_builds_share", "queue", "exploration_id", "fair_tag"),
        Index("ix_builds_node", "node", "state"),
        Index("ix_builds_state", "state", "id"),
        Index("ix_builds_statistics", "stage", "state", "failure", "seconds", "losses"),
        _partial_index("ix_builds_taken", "queue", "owner", "state", "fair_tag", where="state <> 'queued'"),
        _partial_index("ix_builds_delayed", "queue", "not_before", where="state = 'queued' AND not_before IS NOT NULL"),
        _partial_index("uq_builds_running_key", "key", where="state = 'running'", unique=True),
        _partial_index("uq_builds_exploration_key", "exploration_id", "key", where=_OF_EXPLORATION, unique=True),
    )

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    workload_id: Mapped[str | None] = mapped_column(ForeignKey("workloads.id"))
    exploration_id: Mapped[str | None] = mapped_column(ForeignKey("explorations.id"))
    design_id: Mapped[str | None] = mapped_column(ForeignKey("designs.id"))
    after_id: Mapped[str | None] = mapped_column(ForeignKey("builds.id"), index=True)
    stage: Mapped[Stage] = mapped_column(String(16))
    key: Mapped[str] = mapped_column(_DIGEST, index=True)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    owner: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[BuildState] = mapped_column(String(16))

    queue: Mapped[str] = mapped_column(String(120))
    fair_tag: Mapped[float] = mapped_column(default=0.0)
    request: Mapped[str] = mapped_column(String(120), default="")
    licence: Mapped[str | None] = mapped_column(String(60))
    cpus: Mapped[float] = mapped_column(default=0.0)
    memory_gb: Mapped[float] = mapped_column(default=0.0)
    timeout_s: Mapped[float | None]
    not_before: Mapped[datetime | None]

    node: Mapped[str | None] = mapped_column(String(100))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_expires: Mapped[datetime | None]
    lease_token: Mapped[int] = mapped_column(Integer, default=0)
    losses: Mapped[int] = mapped_column(Integer, default=0)
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    history: Mapped[list[Any]] = mapped_column(default=list)

    failure: Mapped[Failure | None] = mapped_column(String(16))
    error: Mapped[str | None] = mapped_column(Text)
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    log_digest: Mapped[str | None] = mapped_column(_DIGEST)
    tool_versions: Mapped[dict[str, Any]]
    adopted_from: Mapped[str | None] = mapped_column(_ID)
    seconds: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    expired_at: Mapped[datetime | None]


class Metric(Base):
    """A number with its provenance (design section 4)."""

    __tablename__ = "metrics"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    design_id: Mapped[str] = mapped_column(ForeignKey("designs.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    value: Mapped[float]
    unit: Mapped[str] = mapped_column(String(32))
    fidelity: Mapped[str] = mapped_column(String(16))
    tool: Mapped[str] = mapped_column(String(100))
    tool_version: Mapped[str] = mapped_column(String(100))
    build_id: Mapped[str | None] = mapped_column(ForeignKey("builds.id"))


class Artifact(Base):
    """A file of a build, by its path inside the design directory; its bytes are in the content-addressed store."""

    __tablename__ = "artifacts"
    __table_args__ = (UniqueConstraint("build_id", "path"),)

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    build_id: Mapped[str] = mapped_column(ForeignKey("builds.id"))
    design_id: Mapped[str | None] = mapped_column(ForeignKey("designs.id"), index=True)
    path: Mapped[str] = mapped_column(String(500))
    digest: Mapped[str] = mapped_column(_DIGEST, index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str] = mapped_column(String(100))


class Event(Base):
    """What happened to an exploration, in order; the id is the SSE `Last-Event-ID` and is never used twice."""

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_exploration_id_id", "exploration_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    exploration_id: Mapped[str] = mapped_column(ForeignKey("explorations.id"))
    kind: Mapped[str] = mapped_column(String(32))
    data: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class IdempotencyKey(Base):
    """The answer given to a POST that carried `Idempotency-Key`; null until its transaction has made it."""

    __tablename__ = "idempotency_keys"

    route: Mapped[str] = mapped_column(String(200), primary_key=True)
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    body_digest: Mapped[str] = mapped_column(_DIGEST)
    response: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class QueueShare(Base):
    """How many turns an owner has had in a queue while others waited too: the next goes to the owner who had least."""

    __tablename__ = "queue_shares"

    queue: Mapped[str] = mapped_column(String(120), primary_key=True)
    owner: Mapped[str] = mapped_column(String(100), primary_key=True)
    served: Mapped[float] = mapped_column(default=0.0)


class Node(Base):
    """A machine of the farm, as its worker announces it.

    `capabilities` maps each queue that it serves to tool versions, `missing` what it can not do to the reason, `disk`
    what it keeps on its disk to bytes; `cpus` and `memory_gb` bound the requests of what runs there at once. `state` is
    the operator's: a draining node finishes what it runs and takes nothing more, a paused one also gives back what it
    runs. `waiting` are the requests that wait for room, longest first: room is kept for the first, so that small builds
    do not starve a large one, nor large ones a small one.
    """

    __tablename__ = "nodes"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    state: Mapped[NodeState] = mapped_column(String(16), default="active")
    capabilities: Mapped[dict[str, Any]]
    missing: Mapped[dict[str, Any]]
    disk: Mapped[dict[str, Any]] = mapped_column(default=dict)
    cpus: Mapped[float]
    memory_gb: Mapped[float]
    version: Mapped[str] = mapped_column(String(100))
    waiting: Mapped[list[Any]] = mapped_column(default=list)
    first_seen: Mapped[datetime] = mapped_column(default=utcnow)
    last_seen: Mapped[datetime]


class Licence(Base):
    """How many builds that need this licence feature may run at once on the whole farm."""

    __tablename__ = "licences"

    feature: Mapped[str] = mapped_column(String(60), primary_key=True)
    tokens: Mapped[int]


class Leader(Base):
    """Who does what only one process of the farm does at a time (the sweeps' tick), until when."""

    __tablename__ = "leaders"

    task: Mapped[str] = mapped_column(String(60), primary_key=True)
    holder: Mapped[str | None] = mapped_column(String(200))
    expires: Mapped[datetime | None]


class Retention(Base):
    """After how many days something expires, where an admin has said so; `days` None: never."""

    __tablename__ = "retention"

    what: Mapped[Expiring] = mapped_column(String(16), primary_key=True)
    days: Mapped[int | None]


class Calibration(Base):
    """A refit of a platform's area model from the farm's own reports; `digest` is its file in the store."""

    __tablename__ = "calibrations"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    platform: Mapped[str] = mapped_column(String(64), index=True)
    digest: Mapped[str] = mapped_column(_DIGEST)
    summary: Mapped[dict[str, Any]]
    build_id: Mapped[str | None] = mapped_column(ForeignKey("builds.id"))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Sweep(Base):
    """A schedule over a matrix of explorations: `matrix` maps fields of an exploration to the values they take.

    `next_at` is when the tick runs it next, None while it is disabled. `webhook_secret` is sealed with a key that is
    not in the database.
    """

    __tablename__ = "sweeps"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    cron: Mapped[str] = mapped_column(String(100))
    zone: Mapped[str] = mapped_column(String(60))
    misfire: Mapped[Misfire] = mapped_column(String(16))
    matrix: Mapped[dict[str, Any]]
    options: Mapped[dict[str, Any]]
    webhook: Mapped[str | None] = mapped_column(String(500))
    webhook_secret: Mapped[str | None] = mapped_column(Text)
    enabled: Mapped[bool] = mapped_column(default=True)
    owner: Mapped[str | None] = mapped_column(String(100))
    next_at: Mapped[datetime | None] = mapped_column(index=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class SweepRun(Base):
    """One run of a sweep. `baseline_id` is the last good run, which `comparison` compares it with."""

    __tablename__ = "sweep_runs"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    sweep_id: Mapped[str] = mapped_column(ForeignKey("sweeps.id"), index=True)
    baseline_id: Mapped[str | None] = mapped_column(ForeignKey("sweep_runs.id"))
    state: Mapped[SweepRunState] = mapped_column(String(16))
    scheduled_for: Mapped[datetime | None]
    cause: Mapped[str] = mapped_column(String(16))
    comparison: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    tool_versions: Mapped[dict[str, Any]]
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    finished_at: Mapped[datetime | None]


class ApiKey(Base):
    """Who may do what. Of the key only a hash is stored; `name` is what audit and ownership call its holder."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    role: Mapped[Role] = mapped_column(String(16))
    prefix: Mapped[str] = mapped_column(String(16), index=True)
    hash: Mapped[str] = mapped_column(_DIGEST)
    quotas: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class AuditEntry(Base):
    """Who changed what, when and from where. Rows are added, and expire; none is changed."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
    who: Mapped[str | None] = mapped_column(String(100))
    address: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(60))
    target: Mapped[str | None] = mapped_column(String(200))
    detail: Mapped[dict[str, Any]]
