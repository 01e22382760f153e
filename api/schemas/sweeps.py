"""Sweeps and their runs: the schedule, what is explored, and how a run compares with the last good one."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.catalog import ModelKey, ModelRef, WorkloadShape
from api.schemas.common import Name, Reply, Request
from api.schemas.explorations import MAX_BUDGET, AreaModel, BoardName, BuildBudget, Sampler, VitisVersion
from compiler.options import Phase, Precision
from db.models import Misfire, Priority, SweepRunState
from worker.comparison.comparing import DEFAULT_TOLERANCE
from worker.ladder.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE
from worker.sweeps.sweep_plan import MAX_EXPLORATIONS

Cron = Annotated[str, Field(min_length=9, max_length=100, description="minute hour day-of-month month day-of-week")]
Zone = Annotated[str, Field(min_length=1, max_length=60, description="IANA name, like Europe/Berlin")]
Webhook = Annotated[str, Field(min_length=8, max_length=500, description="called by POST when a run has ended")]
Secret = Annotated[str, Field(min_length=16, max_length=200, description="signs the webhook's calls; never shown")]
Platform = Annotated[str, Field(min_length=1, max_length=64)]
SlotResult = Literal["new", "same", "changed", "regressed", "failed", "cancelled"]


class SweepMatrix(Request):
    """Every combination of the values is an exploration, 200 at most. `lengths`: tokens of a prefill, context of a
    decode step. Phases and lengths do not apply to networks from a file.
    """

    models: list[ModelKey] = Field(min_length=1, max_length=MAX_EXPLORATIONS)
    phases: list[Phase] = Field(default=["decode"], min_length=1, max_length=2)
    lengths: list[int] = Field(default=[64], min_length=1, max_length=MAX_EXPLORATIONS)
    precisions: list[Precision] = Field(default=["w4a8"], min_length=1, max_length=3)
    layers: list[int] = Field(default=[1], min_length=1, max_length=MAX_EXPLORATIONS)
    platforms: list[Platform] = Field(default=["u55c"], min_length=1, max_length=MAX_EXPLORATIONS)
    seeds: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(default=[0], min_length=1, max_length=MAX_EXPLORATIONS)
    samplers: list[Sampler] = Field(default=["nsga2"], min_length=1, max_length=4)


class SweepOptions(Request):
    """What all explorations of a sweep share; see `NewExploration`. `tolerance`: relative differences up to it count as
    none, 0.02 is 2 %.
    """

    budget: int = Field(default=200, ge=1, le=MAX_BUDGET)
    simulate: int = Field(default=DEFAULT_SIMULATE, ge=0, le=256)
    calibration: int = Field(default=DEFAULT_CALIBRATION, ge=0, le=64)
    verify: int = Field(default=3, ge=0, le=32)
    priority: Priority = "low"
    builds: BuildBudget = BuildBudget()
    vitis: VitisVersion | None = None
    board: BoardName | None = None
    area_model: AreaModel = "shipped"
    tolerance: float = Field(default=DEFAULT_TOLERANCE, ge=0, lt=1)


class NewSweep(Request):
    """A schedule over explorations. `misfire`: what becomes of runs that were due while the farm was away."""

    name: Name
    cron: Cron
    zone: Zone = "UTC"
    misfire: Misfire = "skip"
    matrix: SweepMatrix
    options: SweepOptions = SweepOptions()
    webhook: Webhook | None = None
    webhook_secret: Secret | None = None
    enabled: bool = True


class SweepChange(Request):
    """Only the fields that are given change; null takes webhook or secret away."""

    cron: Cron | None = None
    zone: Zone | None = None
    misfire: Misfire | None = None
    matrix: SweepMatrix | None = None
    options: SweepOptions | None = None
    webhook: Webhook | None = None
    webhook_secret: Secret | None = None
    enabled: bool | None = None


class Nothing(Request):
    """No choices."""


class SweepWorkload(WorkloadShape):
    """A workload of the matrix."""

    id: str
    model: ModelRef


class StoredMatrix(Reply):
    """What is explored."""

    workloads: list[SweepWorkload]
    platforms: list[str]
    seeds: list[int]
    samplers: list[str]


class BuildCounts(Reply):
    """Builds that were run, and those whose results came from the cache."""

    ran: int
    cached: int


class Acceptance(Reply):
    """Who took a regressed run as the new baseline, and when."""

    who: str | None
    at: datetime


class WebhookOutcome(Reply):
    """How the calls of the webhook went; `status` is the HTTP status of the last one."""

    state: Literal["waiting", "sending", "sent", "failed"]
    attempts: int
    status: int | None
    error: str | None


class SweepRunSummary(Reply):
    """One run of a sweep. `explorations` it has, `ended` those of them that have. `index` follows the hypervolume of
    its fronts over the runs, 1 at the first one; `cause`: schedule, late (it was missed) or manual.
    """

    id: str
    sweep_id: str
    state: SweepRunState
    cause: str
    scheduled_for: datetime | None
    baseline_id: str | None
    explorations: int
    ended: int
    builds: BuildCounts | None
    regression_count: int
    improvement_count: int
    index: float | None
    tool_versions: dict[str, str]
    error: str | None
    accepted: Acceptance | None
    webhook: WebhookOutcome | None
    created_at: datetime
    finished_at: datetime | None


class Sweep(Reply):
    """A schedule. `signed`: the webhook's calls carry the HMAC of a secret. `next_at` is null while it is disabled."""

    id: str
    name: str
    cron: str
    zone: str
    misfire: Misfire
    enabled: bool
    next_at: datetime | None
    matrix: StoredMatrix
    explorations: int
    options: dict[str, Any]
    webhook: str | None
    signed: bool
    owner: str | None
    last_run: SweepRunSummary | None
    created_at: datetime


class NamedDesign(Reply):
    """A design, to look at."""

    id: str
    number: int


class FrontPoint(NamedDesign):
    """A design of a front and its objectives: latency in us, energy in uJ."""

    objectives: list[float]


class MovedPoint(NamedDesign):
    """A design of both fronts with other objectives."""

    before: list[float]
    after: list[float]


class FrontChange(Reply):
    """A front at one fidelity, in the baseline and now. Hypervolumes are on logarithmic axes up to a reference that
    both share; `change` is the relative difference, null where there was no front. Lists are cut, counts are not.
    """

    fidelity: str
    before: int
    after: int
    hypervolume_before: float
    hypervolume_after: float
    change: float | None
    new: list[FrontPoint]
    new_count: int
    lost: list[FrontPoint]
    lost_count: int
    moved: list[MovedPoint]
    moved_count: int


class Change(Reply):
    """Something that is not as it was: a tool's version, an option, the model, a node."""

    what: str
    before: str
    after: str
    stages: list[str]


class MetricChange(Reply):
    """A metric of a design that both runs know at the same fidelity; `change` is relative, null where it was 0."""

    slot: str | None
    design: NamedDesign
    front: bool
    metric: str
    fidelity: str
    unit: str
    before: float
    after: float
    change: float | None
    worse: bool | None


class Regression(Reply):
    """What got worse, as a sentence and by parts; `causes` are the changes that can have had a part in it."""

    slot: str
    exploration: str
    kind: Literal["exploration", "design", "stage", "metric", "hypervolume"]
    text: str
    design: NamedDesign | None
    stage: str | None
    metric: str | None
    fidelity: str | None
    unit: str | None
    before: float | None
    after: float | None
    change: float | None
    causes: list[Change]


class SlotComparison(Reply):
    """One exploration of the run beside its partner in the baseline, where there is one."""

    slot: str
    state: str
    exploration: str
    baseline_exploration: str | None
    error: str | None
    result: SlotResult
    fronts: list[FrontChange]
    changes: list[Change]
    differences: list[MetricChange]
    difference_count: int


class SweepRun(SweepRunSummary):
    """A run with its comparison; the lists are empty until it has ended."""

    sweep: str
    tolerance: float | None
    regressions: list[Regression]
    improvements: list[MetricChange]
    slots: list[SlotComparison]
