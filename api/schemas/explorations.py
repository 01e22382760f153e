"""Explorations: what starts one, how it stands, and all its designs by column."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from api.schemas.catalog import ModelKey, ModelRef, NewWorkloadShape, WorkloadShape
from api.schemas.common import Notes, Reply, Request, Tags
from db.models import ExplorationState, Priority
from dse.promote import PickKind
from worker.ladder.build_events import Simulation
from worker.ladder.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE

MAX_BUDGET = 1_000_000
MAX_BUILDS = 256
Sampler = Literal["nsga2", "tpe", "random", "qmc"]
Csim = Literal["running", "passed", "failed"]
AreaModel = Literal["shipped", "latest"]
VitisVersion = Annotated[str, Field(pattern=r"^20\d\d\.\d(\.\d)?$", max_length=8)]
BoardName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Count = Annotated[int, Field(ge=0, le=MAX_BUILDS)]
ExplorationName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="what it is called; letters, digits and . _ + -, and no other exploration has it",
    ),
]


class BuildBudget(Request):
    """How many designs go up to each of the stages that need Vitis or a board. A stage includes those it needs: at most
    as many are linked as are synthesised.
    """

    csynth: Count = 0
    cosim: Count = 0
    link: Count = 0
    measure: Count = 0


class NewExploration(Request):
    """`model`: id or name. `simulate`: how many designs of the front are simulated at most, `calibration`: how many
    others beside it; `verify`: how many of the front are compiled and compared with the reference; `builds`: how many
    go further.

    `vitis`: the version to build with, null for the newest that a node offers; `board`: "simulated" or the shell of a
    board to measure on, null for the simulated one; `area_model`: the area model of this release, or the newest that
    was fitted to the farm's own reports.
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
    priority: Priority = "normal"
    builds: BuildBudget = BuildBudget()
    vitis: VitisVersion | None = None
    board: BoardName | None = None
    area_model: AreaModel = "shipped"
    name: ExplorationName | None = Field(
        default=None, description="what it is called; null: made from the model and what of it is run"
    )
    tags: Tags = Field(default=[])
    notes: Notes = ""
    require_nodes: bool = Field(
        default=False, description="refuse it (409) where a stage that it asks for has no node of the farm to run it"
    )


class ExplorationChange(Request):
    """Only the fields that are given, and not null, change."""

    name: ExplorationName | None = None
    tags: Tags | None = None
    notes: Notes | None = None


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


class Pick(Reply):
    """A design of the front to look at first. The knee is the design farthest below the chord between the ends of the
    front, latency and energy in log scale over its extent; where none is below it, the one of the least product of
    both. Simulated designs are ranked by simulated latency as soon as there are any, else all by estimate.
    """

    kind: PickKind
    design_id: str
    number: int = Field(description="of the design in its exploration, from 0")
    latency_us: float = Field(description="latency in us at `fidelity`")
    fidelity: Literal["estimate", "simulate"] = Field(description="of `latency_us`, which ranked it")
    estimate_us: float = Field(description="estimated latency in us")
    energy_uj: float = Field(description="estimated energy in uJ of one run")


class Exploration(Reply):
    """One search. `evaluated`, `feasible` and `front_size` count its designs, `promoted` those that went up to fidelity
    `simulate`, `simulated` those of them whose simulation has ended.

    `owner`: who started it, null where nobody is asked for a key. `area_model`: digest of the fitted model, null for
    the one of this release. `waiting`: why nothing of it runs, where it is given (not in lists).
    """

    id: str
    name: str = Field(description="what it is called; no two have one name")
    tags: list[str] = Field(description="words to find it by")
    notes: str = Field(description="what people wrote about it, plain text")
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
    priority: Priority
    owner: str | None
    sweep_run_id: str | None
    builds: dict[str, int]
    vitis: str | None
    board: str | None
    area_model: str | None
    waiting: str | None = None
    picks: list[Pick] = Field(description="fastest, knee and least energy of the front so far; empty without one")
    distinct: int | None = Field(
        default=None,
        description="how many of the designs that can be built differ in estimated latency or energy: at most so many "
        "are told apart by the search; null in lists",
    )
    warnings: list[str] = Field(
        default=[],
        description="stages that it asks for and that no node of the farm would run now, with the reason; empty once "
        "it has ended, and in lists",
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


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
