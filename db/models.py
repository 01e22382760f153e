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
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from db.types import UtcDateTime, utcnow

ExplorationState = Literal["queued", "lowering", "searching", "simulating", "verifying", "done", "failed", "cancelled"]
BuildState = Literal["queued", "running", "done", "failed", "cancelled"]
DesignStage = Literal["simulate", "csim"]
"""Stages that one design goes through, in the order of the ladder."""
Stage = Literal["lower", DesignStage]
Failure = Literal["infeasible", "tool", "licence", "node", "timeout"]
"""Why a build failed. Only the last four may be tried again with the same inputs."""

DESIGN_STAGES: tuple[DesignStage, ...] = get_args(DesignStage)
ACTIVE_STATES: tuple[ExplorationState, ...] = ("queued", "lowering", "searching", "simulating", "verifying")

_ID = String(32)
_DIGEST = String(64)


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


class Leased:
    """Columns of work that one worker does at a time (design section 6).

    A worker holds the row while `lease_expires` lies ahead and renews it; each taking raises `lease_token`, and every
    write of the work is conditional on the token, so that a worker that lost its lease cannot write. `losses` counts
    leases that ran out; the reaper gives up after a few.
    """

    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_expires: Mapped[datetime | None]
    lease_token: Mapped[int] = mapped_column(Integer, default=0)
    losses: Mapped[int] = mapped_column(Integer, default=0)
    enqueued_at: Mapped[datetime | None]


class Model(Base):
    """A network: a built-in name, an uploaded config.json, or an uploaded file in the store.

    `kind` is "builtin", "config" or the file's format; `config` the configuration, or the file's digest and size.
    """

    __tablename__ = "models"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    config: Mapped[dict[str, Any]]
    digest: Mapped[str] = mapped_column(_DIGEST)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Workload(Base):
    """model x phase x length x batch x precision x layers; `bundle_key` names its imported bundle once lowered."""

    __tablename__ = "workloads"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    model_id: Mapped[str] = mapped_column(ForeignKey("models.id"), index=True)
    phase: Mapped[str] = mapped_column(String(16))
    length: Mapped[int]
    batch: Mapped[int]
    precision: Mapped[str] = mapped_column(String(16))
    layers: Mapped[int]
    digest: Mapped[str] = mapped_column(_DIGEST, unique=True)
    bundle_key: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    model: Mapped[Model] = relationship(lazy="joined")


class Exploration(Leased, Base):
    """One search: workload x platform x objectives x budget x sampler."""

    __tablename__ = "explorations"

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    workload_id: Mapped[str] = mapped_column(ForeignKey("workloads.id"), index=True)
    platform: Mapped[str] = mapped_column(String(64))
    objectives: Mapped[list[Any]]
    options: Mapped[dict[str, Any]]
    budget: Mapped[int]
    state: Mapped[ExplorationState] = mapped_column(String(16), index=True)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    workload: Mapped[Workload] = relationship(lazy="joined")


class Design(Base):
    """One evaluated point of the space. `number` is its order in the search, `key` the digest of its knobs.

    `feasible`, `latency_us` and `energy_uj` are the estimate's; `simulated_us` is the simulated latency and `deadlock`
    the simulator's explanation of one, both null until then. `on_front`: on the Pareto front of the estimates, among
    the designs that are not known to deadlock. `flags`: values that can not be (see compiler.analysis.limits).
    """

    __tablename__ = "designs"
    __table_args__ = (
        UniqueConstraint("exploration_id", "key"),
        UniqueConstraint("exploration_id", "number"),
    )

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    exploration_id: Mapped[str] = mapped_column(ForeignKey("explorations.id"))
    number: Mapped[int]
    key: Mapped[str] = mapped_column(String(128))
    knobs: Mapped[dict[str, Any]]
    feasible: Mapped[bool]
    latency_us: Mapped[float | None]
    energy_uj: Mapped[float | None]
    violations: Mapped[list[Any]]
    reason: Mapped[str | None] = mapped_column(Text)
    on_front: Mapped[bool] = mapped_column(default=False)
    simulated_us: Mapped[float | None]
    deadlock: Mapped[str | None] = mapped_column(Text)
    flags: Mapped[list[Any]] = mapped_column(default=list)
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Build(Leased, Base):
    """One stage run on the farm. `key` digests its inputs, tool versions and options: equal keys, equal results."""

    __tablename__ = "builds"
    __table_args__ = (UniqueConstraint("design_id", "key"), UniqueConstraint("workload_id", "key"))

    id: Mapped[str] = mapped_column(_ID, primary_key=True)
    design_id: Mapped[str | None] = mapped_column(ForeignKey("designs.id"))
    workload_id: Mapped[str | None] = mapped_column(ForeignKey("workloads.id"))
    stage: Mapped[Stage] = mapped_column(String(16))
    key: Mapped[str] = mapped_column(_DIGEST, index=True)
    state: Mapped[BuildState] = mapped_column(String(16), index=True)
    failure: Mapped[Failure | None] = mapped_column(String(16))
    error: Mapped[str | None] = mapped_column(Text)
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    log_digest: Mapped[str | None] = mapped_column(_DIGEST)
    tool_versions: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


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
    digest: Mapped[str] = mapped_column(_DIGEST)
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
