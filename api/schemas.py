"""Bodies of requests and replies under /v1. Names and units are part of the interface."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from compiler.frontend.inputs.source import FileFormat
from db.models import BuildState, DesignStage, ExplorationState, Failure
from worker.build_events import Simulation
from worker.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE

Item = TypeVar("Item")
MAX_BUDGET = 1_000_000
Sampler = Literal["nsga2", "tpe", "random", "qmc"]
Csim = Literal["running", "passed", "failed"]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$")]

ModelKey = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x20-\x7e]+$")]


class Reply(BaseModel):
    """Base of replies."""


class Request(BaseModel):
    """Base of requests: unknown fields are mistakes, numbers are not strings."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Page(Reply, Generic[Item]):
    """One page of a list; `next_cursor` is null on the last."""

    items: list[Item]
    next_cursor: str | None = None


class Health(Reply):
    """`degraded`: requests are answered, but work waits (no broker or no worker)."""

    status: Literal["ok", "degraded"]
    version: str
    database: bool
    broker: bool
    workers: int
    detail: str | None = None


class Hbm(Reply):
    """High-bandwidth memory: pseudo-channels and GB/s (1e9 bytes/s) of each."""

    channels: int
    channel_bytes: int
    channel_gb_s: float


class Platform(Reply):
    """A board and what a design may use of it."""

    name: str
    title: str
    part: str
    budgets: dict[str, int]
    hbm: Hbm
    clock_mhz: float


class ModelRef(Reply):
    """A model, in short. `kind` is "builtin", "config", "onnx", "mlir" or "pt2"."""

    id: str
    name: str
    kind: str


class Model(ModelRef):
    """A network: built in, from a config.json, or from an uploaded file, whose `config` is its digest and size."""

    config: dict[str, Any]
    digest: str
    created_at: datetime


class NewModel(Request):
    """`config` is the content of a Hugging Face config.json."""

    name: Name
    config: dict[str, Any]


class NewModelFile(Request):
    """A network in a file that lies in the store already."""

    name: Name
    format: FileFormat
    digest: str
    size: int


class WorkloadShape(Reply):
    """What of a model is run. `length`: tokens of a prefill, or context of a decode step, the new token included."""

    phase: str
    length: int
    batch: int
    precision: str
    layers: int


class Workload(WorkloadShape):
    """A stored workload."""

    id: str
    model: ModelRef
    created_at: datetime


class NewWorkloadShape(Request):
    """See `WorkloadShape`; the ranges are those of compiler.options.Workload.

    A network from a file has its shapes in it: phase and length do not apply, precision is f32 and layers 1.
    """

    phase: Literal["prefill", "decode"] = "decode"
    length: int = 64
    batch: int = 1
    precision: Literal["f32", "w8a8", "w4a8"] = "w4a8"
    layers: int = 1


class NewWorkload(NewWorkloadShape):
    """`model`: id or name."""

    model: ModelKey


class NewExploration(Request):
    """`model`: id or name. `simulate`: how many designs of the front are simulated at most, `calibration`: how many
    others beside it; `verify`: how many of the front are compiled and compared with the reference.
    """

    model: ModelKey
    workload: NewWorkloadShape = NewWorkloadShape()
    platform: str = Field(default="u55c", max_length=64)
    budget: int = Field(default=200, ge=1, le=MAX_BUDGET)
    seed: int = Field(default=0, ge=0, lt=1 << 31)
    sampler: Sampler = "nsga2"
    simulate: int = Field(default=DEFAULT_SIMULATE, ge=0, le=256)
    calibration: int = Field(default=DEFAULT_CALIBRATION, ge=0, le=64)
    verify: int = Field(default=3, ge=0, le=32)


class Objective(Reply):
    """What the search minimises or maximises."""

    name: str
    unit: str
    direction: Literal["minimize", "maximize"]


class EstimateErrors(Reply):
    """How far the estimates of an exploration are off a better fidelity, as shares: of absolute relative errors, but
    for `bias`, the median of the signed ones.
    """

    metric: str
    fidelity: str
    n: int
    median: float
    p95: float
    worst: float
    bias: float
    worst_design: str


class Exploration(Reply):
    """One search. `evaluated`, `feasible` and `front_size` count its designs, `promoted` those that went up to fidelity
    `simulate`, `simulated` those of them whose simulation has ended.
    """

    id: str
    model: ModelRef
    workload: WorkloadShape
    platform: str
    state: ExplorationState
    error: str | None
    budget: int
    evaluated: int
    feasible: int
    front_size: int
    promoted: int
    simulated: int
    estimate_errors: EstimateErrors | None
    objectives: list[Objective]
    seed: int
    sampler: str
    simulate: int
    calibration: int
    verify: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class CsimSummary(Reply):
    """State of a design's newest C simulation, and its verdict once there is one."""

    state: BuildState
    passed: bool | None
    max_rel_error: float | None


class SimulationSummary(Reply):
    """State of a design's newest timing simulation, and what it found. `estimate_error`: of the estimated latency,
    relative to the simulated one, negative where the estimate is too short. `deadlock`: its explanation.
    """

    state: BuildState
    latency_us: float | None
    estimate_error: float | None
    deadlock: str | None


class Flag(Reply):
    """A value that can not be true, and the limit that it breaks. What JSON has no number for (inf, nan) is text."""

    metric: str
    fidelity: str
    value: float | str
    bound: float
    unit: str
    text: str


class DesignSummary(Reply):
    """A design in a list. Objectives and `feasible` have fidelity `estimate`; objectives are null where it can not be
    built, `reason` says why. `on_front`: by estimate, among the designs that are not known to deadlock.
    """

    id: str
    number: int
    on_front: bool
    feasible: bool
    latency_us: float | None
    energy_uj: float | None
    reason: str | None
    knobs: dict[str, Any]
    simulation: SimulationSummary | None
    csim: CsimSummary | None
    flags: list[Flag]


class Scatter(Reply):
    """Designs by column, all in one order."""

    id: list[str]
    number: list[int]
    latency_us: list[float | None]
    energy_uj: list[float | None]
    feasible: list[bool]
    on_front: list[bool]
    csim: list[Csim | None]
    simulated_us: list[float | None]
    simulation: list[Simulation | None]


class Metric(Reply):
    """A number with its provenance."""

    name: str
    value: float
    unit: str
    fidelity: str
    tool: str
    tool_version: str
    build_id: str | None


class Difference(Reply):
    """A metric at fidelity `estimate` and at a higher one. `error`: of the estimate, relative and signed; null where
    the better value is 0.
    """

    metric: str
    unit: str
    fidelity: str
    value: float
    estimate: float
    error: float | None


class Violation(Reply):
    """A budget that a design exceeds."""

    resource: str
    demand: float
    bound: float


class Build(Reply):
    """One stage of one design, run on the farm."""

    id: str
    design_id: str | None
    stage: str
    state: BuildState
    verdict: dict[str, Any] | None
    failure: Failure | None
    error: str | None
    log_url: str | None
    tool_versions: dict[str, Any]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Design(DesignSummary):
    """A design with all that is known about it. `archive_available`: its whole directory is stored."""

    exploration_id: str
    metrics: list[Metric]
    differences: list[Difference]
    violations: list[Violation]
    builds: list[Build]
    dataflow_available: bool
    simulation_available: bool
    archive_available: bool


class NewBuild(Request):
    """The stage to run."""

    stage: DesignStage = "csim"


class Artifact(Reply):
    """A file of a design directory; `digest` is the SHA-256 of its `size` bytes."""

    path: str
    size: int
    digest: str
    media_type: str
    url: str
