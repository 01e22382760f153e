"""Sweeps and their runs: the schedule, what is explored, and how a run compares with the last good one."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.catalog import ModelKey, ModelRef, WorkloadShape
from api.schemas.common import Name, Reply, Request
from api.schemas.explorations import (
    MAX_BUDGET,
    AreaModel,
    BoardName,
    BuildBudget,
    Objective,
    ObjectiveName,
    Sampler,
    VitisVersion,
)
from compiler.options import Phase, Precision
from db.models import Misfire, Priority, SweepRunState
from dse.objectives import DEFAULT, LEAST, MOST
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
    """Every combination of the values is an exploration, 200 at most."""

    models: list[ModelKey] = Field(min_length=1, max_length=MAX_EXPLORATIONS)
    """Ids or names of models."""
    phases: list[Phase] = Field(default=["decode"], min_length=1, max_length=4)
    """What one run computes; does not apply to networks from a file."""
    lengths: list[int] = Field(default=[64], min_length=1, max_length=MAX_EXPLORATIONS)
    """Tokens of a prefill, context of a decode step; does not apply to heads and networks from a file."""
    precisions: list[Precision] = Field(default=["w4a8"], min_length=1, max_length=5)
    """Number formats of weights and activations; with kv8 of keys and values, too: not of networks from a file."""
    layers: list[int] = Field(default=[1], min_length=1, max_length=MAX_EXPLORATIONS)
    """Layers that a launch runs, one after the other; does not apply to heads."""
    platforms: list[Platform] = Field(default=["u55c"], min_length=1, max_length=MAX_EXPLORATIONS)
    """Names of boards."""
    seeds: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(default=[0], min_length=1, max_length=MAX_EXPLORATIONS)
    """Seeds of the samplers."""
    samplers: list[Sampler] = Field(default=["front"], min_length=1, max_length=5)
    """How points of the space are chosen."""


class SweepOptions(Request):
    """What all explorations of a sweep share; see `NewExploration`."""

    budget: int = Field(default=200, ge=1, le=MAX_BUDGET)
    """Designs that each exploration evaluates."""
    simulate: int = Field(default=DEFAULT_SIMULATE, ge=0, le=256)
    """Designs of the front that are simulated, at most."""
    calibration: int = Field(default=DEFAULT_CALIBRATION, ge=0, le=64)
    """Other designs that are simulated, for the estimates' error."""
    verify: int = Field(default=3, ge=0, le=32)
    """Designs of the front that are compiled and compared with the reference."""
    objectives: list[ObjectiveName] = Field(default=[*DEFAULT], min_length=LEAST, max_length=MOST)
    """What each search makes small."""
    priority: Priority = "low"
    """Against the owner's other explorations."""
    builds: BuildBudget = BuildBudget()
    """How many designs go further."""
    vitis: VitisVersion | None = None
    """Version of Vitis to build with; null for the newest that a node offers."""
    board: BoardName | None = None
    """Board to measure on: "simulated" or a shell; null for the simulated one."""
    area_model: AreaModel = "shipped"
    """The area model of this release, or the newest that was fitted to the farm's own reports."""
    tolerance: float = Field(default=DEFAULT_TOLERANCE, ge=0, lt=1)
    """Relative differences up to it count as none; 0.02 is 2 %."""


class NewSweep(Request):
    """A schedule over explorations."""

    name: Name
    """What to call it."""
    cron: Cron
    """When a run is due: minute hour day-of-month month day-of-week."""
    zone: Zone = "UTC"
    """Time zone of the schedule: an IANA name, like Europe/Berlin."""
    misfire: Misfire = "skip"
    """What becomes of runs that were due while the farm was away."""
    matrix: SweepMatrix
    """What is explored."""
    options: SweepOptions = SweepOptions()
    """What all its explorations share."""
    webhook: Webhook | None = None
    """Called by POST when a run has ended."""
    webhook_secret: Secret | None = None
    """Signs the webhook's calls; never shown."""
    enabled: bool = True
    """Whether the schedule runs."""


class SweepChange(Request):
    """What to change; what is not given stays, and null takes webhook or secret away."""

    cron: Cron | None = None
    """When a run is due: minute hour day-of-month month day-of-week."""
    zone: Zone | None = None
    """Time zone of the schedule: an IANA name, like Europe/Berlin."""
    misfire: Misfire | None = None
    """What becomes of runs that were due while the farm was away."""
    matrix: SweepMatrix | None = None
    """What is explored."""
    options: SweepOptions | None = None
    """What all its explorations share."""
    webhook: Webhook | None = None
    """Called by POST when a run has ended."""
    webhook_secret: Secret | None = None
    """Signs the webhook's calls; never shown."""
    enabled: bool | None = None
    """Whether the schedule runs."""


class Nothing(Request):
    """No choices."""


class SweepWorkload(WorkloadShape):
    """A workload of the matrix."""

    id: str
    """Identifier of the workload."""
    model: ModelRef
    """The model that is run."""


class StoredMatrix(Reply):
    """The values whose combinations are explored."""

    workloads: list[SweepWorkload]
    """The workloads."""
    platforms: list[str]
    """Names of boards."""
    seeds: list[int]
    """Seeds of the samplers."""
    samplers: list[str]
    """How points of the space are chosen."""


class BuildCounts(Reply):
    """Builds of a run."""

    ran: int
    """Builds that were run."""
    cached: int
    """Builds whose results came from the cache."""


class Acceptance(Reply):
    """A regressed run that was taken as the new baseline."""

    who: str | None
    """Name of the key; null where nobody is asked for one."""
    at: datetime
    """When, UTC."""


class WebhookOutcome(Reply):
    """How the calls of the webhook went."""

    state: Literal["waiting", "sending", "sent", "failed"]
    """How they stand."""
    attempts: int
    """Calls so far."""
    status: int | None
    """HTTP status of the last one; null where there was no answer."""
    error: str | None
    """What was wrong with the last one; null where nothing was."""


class SweepRunSummary(Reply):
    """One run of a sweep."""

    id: str
    """Identifier of the run."""
    sweep_id: str
    """The sweep that it is of."""
    state: SweepRunState
    """How it stands, and once it has ended how it compares with its baseline."""
    cause: str
    """"schedule", "late" (it was missed) or "manual"."""
    scheduled_for: datetime | None
    """When it was due, UTC; null for one that was started by hand."""
    baseline_id: str | None
    """The run that it is compared with; null for none."""
    explorations: int
    """Explorations that it has."""
    ended: int
    """Those of them that have ended."""
    builds: BuildCounts | None
    """Builds that it took; null before its end."""
    regression_count: int
    """What got worse, in number."""
    improvement_count: int
    """What got better, in number."""
    index: float | None
    """Hypervolume of its fronts, as a share of the first run's; null where there is none."""
    tool_versions: dict[str, str]
    """Versions of the tools, by name."""
    error: str | None
    """Why it failed; null where it did not."""
    accepted: Acceptance | None
    """Who took it as the new baseline; null where nobody has."""
    webhook: WebhookOutcome | None
    """How the webhook's calls went; null without one."""
    created_at: datetime
    """When it was started, UTC."""
    finished_at: datetime | None
    """When it ended, UTC; null before."""


class Sweep(Reply):
    """A schedule over explorations."""

    id: str
    """Identifier of the sweep."""
    name: str
    """What it is called, by which it can be named as well."""
    cron: str
    """When a run is due: minute hour day-of-month month day-of-week."""
    zone: str
    """Time zone of the schedule."""
    misfire: Misfire
    """What becomes of runs that were due while the farm was away."""
    enabled: bool
    """Whether the schedule runs."""
    next_at: datetime | None
    """When the next run is due, UTC; null while it is disabled."""
    matrix: StoredMatrix
    """What is explored."""
    explorations: int
    """Explorations of one run."""
    options: dict[str, Any] = Field(title="Shared options")  # as "Options" generated code would call it SweepOptions
    """What all its explorations share, by name; see `SweepOptions`."""
    webhook: str | None
    """Called by POST when a run has ended; null for none."""
    signed: bool
    """Whether the webhook's calls carry the HMAC of a secret."""
    webhook_problem: str | None
    """Why the webhook can not be called, and what to do; null where nothing is in the way."""
    owner: str | None
    """Name of the key that made it; null where nobody is asked for one."""
    last_run: SweepRunSummary | None
    """Its newest run; null before the first."""
    warnings: list[str] = Field(default=[])
    """Stages that its explorations ask for and that no node of the farm would run now, with the reason; empty in
    lists.
    """
    created_at: datetime
    """When it was made, UTC."""


class NamedDesign(Reply):
    """A design, to look at."""

    id: str
    """Identifier of the design."""
    number: int
    """Its place in the search, from 0."""


class FrontPoint(NamedDesign):
    """A design of a front."""

    objectives: list[float]
    """The exploration's, in its order."""


class MovedPoint(NamedDesign):
    """A design of both fronts with other objectives."""

    before: list[float]
    """The exploration's objectives in the baseline, in their order."""
    after: list[float]
    """The exploration's objectives now."""


class FrontChange(Reply):
    """A front at one fidelity, in the baseline and now. Hypervolumes are on logarithmic axes up to a reference that
    both share. Lists are cut, counts are not.
    """

    fidelity: str
    """Where the objectives came from."""
    before: int
    """Designs on the baseline's front."""
    after: int
    """Designs on the front now."""
    hypervolume_before: float
    """The baseline's hypervolume, without unit."""
    hypervolume_after: float
    """The hypervolume now, without unit."""
    change: float | None
    """Relative difference of the hypervolumes; null where there was no front."""
    new: list[FrontPoint]
    """Designs that only the new front has."""
    new_count: int
    """Their number."""
    lost: list[FrontPoint]
    """Designs that only the baseline's front has."""
    lost_count: int
    """Their number."""
    moved: list[MovedPoint]
    """Designs of both fronts with other objectives."""
    moved_count: int
    """Their number."""


class Change(Reply):
    """Something that is not as it was."""

    what: str
    """A tool's version, an option, the model, a node."""
    before: str
    """What it was."""
    after: str
    """What it is."""
    stages: list[str]
    """Stages that depend on it."""


class MetricChange(Reply):
    """A metric of a design that both runs know at the same fidelity."""

    slot: str | None
    """The exploration's place in the matrix; null in the list of one slot."""
    design: NamedDesign
    """The design."""
    front: bool
    """Whether it is on a front."""
    metric: str
    """Name of the metric."""
    fidelity: str
    """Where both values came from."""
    unit: str
    """Unit of both values."""
    before: float
    """The baseline's value, in `unit`."""
    after: float
    """The value now, in `unit`."""
    change: float | None
    """Relative difference; null where it was 0."""
    worse: bool | None
    """Whether that is worse; null for a metric of which more is neither better nor worse."""


class Regression(Reply):
    """What got worse."""

    slot: str
    """The exploration's place in the matrix."""
    exploration: str
    """Identifier of the exploration."""
    kind: Literal["exploration", "design", "stage", "metric", "hypervolume"]
    """What it is that got worse."""
    text: str
    """It in a sentence."""
    design: NamedDesign | None
    """The design, where it is about one."""
    stage: str | None
    """The stage, where it is about one."""
    metric: str | None
    """The metric, where it is about one."""
    fidelity: str | None
    """Where the values came from, where there are any."""
    unit: str | None
    """Unit of the values."""
    before: float | None
    """The baseline's value, in `unit`."""
    after: float | None
    """The value now, in `unit`."""
    change: float | None
    """Relative difference; null where there is none."""
    causes: list[Change]
    """Changes that can have had a part in it."""


class SlotComparison(Reply):
    """One exploration of the run beside its partner in the baseline, where there is one."""

    slot: str
    """Its place in the matrix: the values that make it."""
    state: str
    """How the exploration stands."""
    exploration: str
    """Identifier of the exploration."""
    baseline_exploration: str | None
    """Identifier of its partner; null for none."""
    error: str | None
    """Why it failed; null where it did not."""
    result: SlotResult
    """How the two compare."""
    objectives: list[Objective]
    """What the exploration makes small, in the order of the fronts' values."""
    fronts: list[FrontChange]
    """Their fronts, one entry a fidelity."""
    changes: list[Change]
    """What is not as it was."""
    differences: list[MetricChange]
    """Metrics that differ, the first of them."""
    difference_count: int
    """Metrics that differ, in number."""


class SweepRun(SweepRunSummary):
    """A run with its comparison; the lists are empty until it has ended."""

    sweep: str
    """Name of the sweep."""
    warnings: list[str] = Field(default=[])
    """Stages that its explorations ask for and that no node of the farm would run now, with the reason; empty once it
    has ended.
    """
    tolerance: float | None
    """Relative differences up to it count as none; null before it was compared."""
    regressions: list[Regression]
    """What got worse."""
    improvements: list[MetricChange]
    """Metrics that got better."""
    slots: list[SlotComparison]
    """Its explorations, compared."""
