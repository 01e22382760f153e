"""Explorations: what starts one, how it stands, and all its designs by column."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from api.schemas.catalog import ModelKey, ModelRef, NewWorkloadShape, WorkloadShape
from api.schemas.common import Notes, Reply, Request, Tags
from db.models import ExplorationState, Priority
from dse.objectives import LEAST, MOST
from dse.turns import MAX_ISLANDS
from worker.ladder.build_events import Simulation
from worker.ladder.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE

MAX_BUDGET = 1_000_000
MAX_BATCH = 200
MAX_BUILDS = 256
Sampler = Literal["front", "nsga2", "tpe", "random", "qmc"]
Csim = Literal["running", "passed", "failed"]
AreaModel = Literal["shipped", "latest"]
VitisVersion = Annotated[str, Field(pattern=r"^20\d\d\.\d(\.\d)?$", max_length=8)]
BoardName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Count = Annotated[int, Field(ge=0, le=MAX_BUILDS)]
Bound = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=100)]
ObjectiveName = Annotated[str, Field(max_length=32)]
ExplorationName = Annotated[str, Field(min_length=1, max_length=100)]


class BuildBudget(Request):
    """How many designs go up to each of the stages that need Vitis or a board. At most as many are linked as are
    synthesised; a stage that is asked for without the one that it reads from implies as many of that.
    """

    csynth: Count = 0
    """Designs to synthesise with Vitis HLS."""
    cosim: Count = 0
    """Designs to co-simulate as RTL."""
    link: Count = 0
    """Designs to place and route."""
    measure: Count = 0
    """Designs to run on a board."""


class AtMost(Request):
    """What a design may use, where that is less than the board has, and take, by estimate: what has more is as what
    does not fit. Shares are in percent of what the board offers a design; null for all of it.
    """

    lut: Share | None = None
    """LUTs, percent."""
    ff: Share | None = None
    """Flip-flops, percent."""
    dsp: Share | None = None
    """DSPs, percent."""
    bram36: Share | None = None
    """Block RAMs, percent."""
    uram: Share | None = None
    """UltraRAMs, percent."""
    hbm_ports: Annotated[int, Field(ge=1, le=1024)] | None = None
    """HBM ports, their number."""
    dies: Literal[1] | None = None
    """Dies: 1 for designs that lie whole on the die that has the HBM, so that no stream leaves it."""
    latency: Bound | None = None
    """Time of one run, us."""
    energy: Bound | None = None
    """Energy of one run above the idle board, uJ."""
    energy_with_idle: Bound | None = None
    """Energy of one run with the idle board, uJ."""
    power: Bound | None = None
    """Power of the board during a run, W."""
    area: Share | None = None
    """The largest share of LUT, FF, DSP, BRAM or URAM that a design may use, percent."""
    hbm_traffic: Bound | None = None
    """Bytes over HBM in one run."""
    mean_latency: Bound | None = None
    """Time of one run, the mean of all positions, us; of the phases step and token."""
    mean_energy: Bound | None = None
    """Energy of one run above the idle board, the mean of all positions, uJ; of the phases step and token."""
    prompt_time: Bound | None = None
    """Time of a token of a prompt, us; of the phase token."""
    time_per_token: Bound | None = None
    """Time of a token of a whole reply, starts of kernels too, ms; of the phase token."""
    input_interval: Bound | None = None
    """Time from one input to the next within a launch, us; of a batch of several."""
    on_chip_memory: Bound | None = None
    """Bytes of memory on chip between tasks."""


class NewExploration(Request):
    """The search to start."""

    model: ModelKey
    """Id or name of the model."""
    workload: NewWorkloadShape = NewWorkloadShape()
    """What of the model is run."""
    platform: str = Field(default="u55c", max_length=64)
    """Name of the board."""
    budget: int = Field(default=200, ge=1, le=MAX_BUDGET)
    """Designs to evaluate."""
    seed: int = Field(default=0, ge=0, lt=1 << 31)
    """Seed of the sampler."""
    sampler: Sampler = "front"
    """How points of the space are chosen."""
    islands: int = Field(default=1, ge=1, le=MAX_ISLANDS)
    """Searches side by side, which share the budget and exchange what they find, on as many nodes as are free; the
    designs follow from the seed and their number.
    """
    objectives: list[ObjectiveName] | None = Field(default=None, min_length=LEAST, max_length=MOST)
    """What the search makes small, two or three metrics of the estimate: latency, energy, energy_with_idle, power, area
    (the largest share of LUT, FF, DSP, BRAM or URAM that a design may use), lut, ff, dsp, bram36, uram, hbm_ports,
    hbm_traffic, on_chip_memory; of the phases step and token mean_latency and mean_energy, of token prompt_time and
    time_per_token (the reciprocal of tokens_per_second); of a batch of several input_interval. The front is sorted by
    the first. Null for latency and energy, of the phase token prompt_time, too.
    """
    at_most: AtMost = AtMost()
    """What a design may have, where that is less than the board allows."""
    simulate: int = Field(default=DEFAULT_SIMULATE, ge=0, le=256)
    """Designs of the front that are simulated, at most."""
    calibration: int = Field(default=DEFAULT_CALIBRATION, ge=0, le=64)
    """Other designs that are simulated, for the estimates' error."""
    verify: int = Field(default=3, ge=0, le=32)
    """Designs of the front that are compiled and compared with the reference."""
    priority: Priority = "normal"
    """Against the caller's other explorations."""
    builds: BuildBudget = BuildBudget()
    """How many designs go further."""
    vitis: VitisVersion | None = None
    """Version of Vitis to build with; null for the newest that a node offers."""
    board: BoardName | None = None
    """Board to measure on: "simulated" or a shell; null for the simulated one."""
    area_model: AreaModel = "shipped"
    """The area model of this release, or the newest that was fitted to the farm's own reports."""
    name: ExplorationName | None = None
    """What it is called: letters, digits and . _ + -, and no other exploration has it; null: made from the model and
    what of it is run.
    """
    tags: Tags = Field(default=[])
    """Words to find it by, without spaces and commas."""
    notes: Notes = ""
    """What people write about it, plain text."""
    require_nodes: bool = False
    """Refuse it (409) where a stage that it asks for has no node of the farm to run it."""


class NewExplorations(Request):
    """Searches to start together: all of them, or, where one is refused, none."""

    explorations: list[NewExploration] = Field(min_length=1, max_length=MAX_BATCH)
    """The searches, 200 at most."""


class ExplorationChange(Request):
    """What is to be different of an exploration; only the fields that are given, and not null, change."""

    name: ExplorationName | None = None
    """What it is called from now on: letters, digits and . _ + -, and no other exploration has it."""
    tags: Tags | None = None
    """Words to find it by, without spaces and commas; they replace all that it has."""
    notes: Notes | None = None
    """What people write about it, plain text."""
    archived: bool | None = None
    """Whether lists leave it out; nothing of it expires then."""
    pinned: bool | None = None
    """Whether it is kept from deletion; nothing of it expires then."""


class Objective(Reply):
    """A metric that the search makes small."""

    name: str
    """The metric."""
    unit: str
    """Its unit."""
    best: str
    """What the design with the least of it is called."""


class EstimateErrors(Reply):
    """How far the estimates of an exploration are off a better fidelity; shares of the better value."""

    metric: str
    """The metric that is compared."""
    fidelity: str
    """The better fidelity."""
    n: int
    """Designs that are known at both."""
    median: float
    """Median of the absolute errors, as a share."""
    p95: float
    """95th percentile of the absolute errors, as a share."""
    worst: float
    """The largest absolute error, as a share."""
    bias: float
    """Median of the signed errors, as a share; negative where estimates are too short."""
    low: float
    """The 5th percentile of the signed errors, as a share."""
    high: float
    """The 95th percentile of the signed errors, as a share: nine of ten lie from `low` to here."""
    worst_design: str
    """Id of the design with the largest error."""


class Pick(Reply):
    """A design of the front to look at first. The knee is the design farthest below the chord between the ends of the
    front (of three objectives: the plane), in log scale over its extent; where none lies below it, with the least
    product of the objectives. Simulated designs are ranked by simulated latency as soon as there are any, else all by
    estimate.
    """

    kind: str
    """What it is best at: "knee", or the `best` of an objective."""
    design_id: str
    """Id of the design."""
    number: int
    """Its place in the search, from 0."""
    objectives: list[float]
    """The exploration's objectives, in its order, with the latency of `fidelity`."""
    fidelity: Literal["estimate", "simulate"]
    """Fidelity of its latency, which ranked it; all else is estimated."""
    estimates: list[float]
    """The same by estimate."""


class Group(Reply):
    """Designs of a front that the estimate can not tell apart."""

    design_id: str
    """Id of the one that stands for them; none of them has a better fidelity."""
    number: int
    """Its place in the search, from 0."""
    rank: int
    """When to look at it, from 1: simulated designs first, of these the best in each objective, the knee, then always
    the middle of the widest gap.
    """
    objectives: list[float]
    """The exploration's objectives, in its order, with the latency of `fidelity`."""
    fidelity: Literal["estimate", "simulate"]
    """The best fidelity of its latency; all else is estimated."""
    latency_range: list[float] | None
    """From where to where its latency lies by simulation, us: of an estimate with the errors that nine of ten designs
    of this exploration have. Null before there are any, and where latency is no objective.
    """
    members: list[str]
    """Ids of all of them, this one included, by the first objective."""


class Groups(Reply):
    """A front by estimate, with designs that are within the error of one another as one."""

    error: float
    """Up to which share objectives count as equal: half the range in which nine of ten errors of the estimate lie; 0
    before there are any.
    """
    groups: list[Group]
    """By the first objective of the designs that stand for them."""


class Exploration(Reply):
    """One search."""

    id: str
    """Identifier of the exploration."""
    name: str
    """What it is called; no two have one name."""
    tags: list[str]
    """Words to find it by."""
    notes: str
    """What people wrote about it, plain text."""
    archived: bool
    """Whether lists leave it out; nothing of it expires then."""
    pinned: bool
    """Whether it is kept from deletion; nothing of it expires then."""
    model: ModelRef
    """The model that is explored."""
    workload: WorkloadShape
    """What of it is run."""
    platform: str
    """Name of the board."""
    state: ExplorationState
    """How it stands."""
    error: str | None
    """Why it failed; null where it did not."""
    budget: int
    """Designs to evaluate."""
    evaluated: int
    """Designs that were evaluated so far."""
    feasible: int
    """Those of them that fit the platform, by estimate."""
    front_size: int
    """Designs on the Pareto front."""
    promoted: int
    """Designs that went up to fidelity `simulate`."""
    simulated: int
    """Those of them whose simulation has ended."""
    estimate_errors: EstimateErrors | None
    """How far its estimates are off the simulated values; null before there are any."""
    objectives: list[Objective]
    """What the search makes small, two or three; the front is sorted by the first."""
    seed: int
    """Seed of the sampler."""
    sampler: str
    """How points of the space are chosen."""
    islands: int
    """Searches side by side that share the budget."""
    at_most: dict[str, float]
    """What a design may have by name, as it was asked for (`AtMost`)."""
    simulate: int
    """Designs of the front that are simulated, at most."""
    calibration: int
    """Other designs that are simulated, for the estimates' error."""
    verify: int
    """Designs of the front that are compiled and compared with the reference."""
    priority: Priority
    """Against its owner's other explorations."""
    owner: str | None
    """Name of the key that started it; null where nobody is asked for one."""
    sweep_run_id: str | None
    """The sweep's run that it belongs to; null for none."""
    builds: dict[str, int]
    """How many designs go further, by stage."""
    vitis: str | None
    """Version of Vitis to build with; null for the newest that a node offers."""
    board: str | None
    """Board to measure on; null for the simulated one."""
    area_model: str | None
    """SHA-256 of the fitted area model; null for the one of the release."""
    waiting: str | None = None
    """Why nothing of it runs; null where something does, and in lists."""
    picks: list[Pick]
    """The best of the front so far in its first objective, the knee, and the best in the others; empty without one."""
    distinct: int | None = None
    """How many different objectives, by estimate, the designs have that can be built: the search tells so many apart.
    At least so many different accelerators are among them, for two can have equal estimates; null in lists.
    """
    warnings: list[str] = Field(default=[])
    """Stages that were added, as those that it asks for read from them, and stages that no node of the farm would run
    now, with the reason; empty once it has ended, and in lists.
    """
    created_at: datetime
    """When it was started, UTC."""
    started_at: datetime | None
    """When its first work began, UTC; null before."""
    finished_at: datetime | None
    """When it ended, UTC; null before."""


class StartedExplorations(Reply):
    """Searches that were started together."""

    explorations: list[Exploration]
    """One for each that was asked for, in the same order."""


class Scatter(Reply):
    """Designs by column, all in one order. For all metrics and knobs see `DesignTable`."""

    id: list[str]
    """Identifiers."""
    number: list[int]
    """Places in the search, from 0."""
    objectives: list[list[float | None]]
    """Estimated objectives, a list for each of the exploration's, in its order; null where a design can not be built.
    """
    latency_us: list[float | None]
    """Estimated latencies, us; null where a design can not be built."""
    feasible: list[bool]
    """Whether they fit the platform."""
    on_front: list[bool]
    """Whether they are on the Pareto front."""
    csim: list[Csim | None]
    """How their newest C simulations stand; null for none."""
    simulated_us: list[float | None]
    """Simulated latencies, us; null where there is none."""
    simulation: list[Simulation | None]
    """How their newest timing simulations stand; null for none."""
