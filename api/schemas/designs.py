"""Designs: in a list, whole, and their files."""

from datetime import datetime
from typing import Any, Literal

from api.schemas.builds import Build
from api.schemas.common import Notes, Reply, Request, Tags
from db.models import BuildState, Failure


class CsimSummary(Reply):
    """A design's newest C simulation."""

    state: BuildState
    """How it stands."""
    passed: bool | None
    """Whether every result is within its bound of the reference; null before its end."""
    max_rel_error: float | None
    """Largest error of an output, relative to the output's largest value; null before its end."""


class StallingRun(Reply):
    """Whether a design ends, too, when all its pipelines stall (style stp), which HLS may make of any other style."""

    ends: bool | None
    """Whether it does; null where that took too long to find out."""
    cycles: int | None
    """Simulated cycles up to its end or the deadlock; null where neither was found."""
    fifo: str | None
    """A full FIFO of the deadlock; null where there is none."""
    deadlock: str | None
    """Explanation of the deadlock; null where there is none."""
    fidelity: str
    """How it was found out: simulate."""


class SimulationSummary(Reply):
    """A design's newest timing simulation."""

    state: BuildState
    """How it stands."""
    latency_us: float | None
    """Simulated latency, us; null before its end and for a deadlock."""
    estimate_error: float | None
    """Error of the estimated latency as a share of the simulated one, negative where the estimate is too short."""
    refuted: str | None
    """Why the simulation refutes the design: it deadlocks, or exceeds budgets with certified FIFOs; null where it does
    not.
    """
    stalling: StallingRun | None
    """One more run with stalling pipelines; null before its end, for a refuted design, and in builds of older releases.
    """


class Flag(Reply):
    """A value that can not be true."""

    metric: str
    """Name of the metric."""
    fidelity: str
    """Where the value came from."""
    value: float | str
    """The value, in `unit`; what JSON has no number for (inf, nan) is text."""
    bound: float
    """The physical limit that it breaks, in `unit`."""
    unit: str
    """Unit of value and bound."""
    text: str
    """Both in words."""


class DesignSummary(Reply):
    """A design in a list. Its objectives and `feasible` have fidelity `estimate`."""

    id: str
    """Identifier of the design."""
    number: int
    """Its place in the search, from 0."""
    on_front: bool
    """Whether it is on the Pareto front: by estimate, among the designs that no simulation refutes."""
    feasible: bool
    """Whether it fits the platform."""
    latency_us: float | None
    """Estimated latency, us; null where it can not be built."""
    energy_uj: float | None
    """Estimated energy of one run, idle board subtracted, uJ; null where it can not be built."""
    objectives: list[float]
    """The exploration's objectives, in its order; empty where it can not be built."""
    reason: str | None
    """Why it can not be built; null where it can."""
    knobs: dict[str, Any]
    """The knobs that make it, by name."""
    simulation: SimulationSummary | None
    """Its newest timing simulation; null for none."""
    csim: CsimSummary | None
    """Its newest C simulation; null for none."""
    flags: list[Flag]
    """Values of it that can not be true."""
    tags: list[str]
    """Words to find it by."""
    notes: str
    """What people wrote about it, plain text."""
    archived: bool
    """Whether lists and pictures leave it out; its files do not expire then."""
    pinned: bool
    """Whether it is kept from deletion; its files do not expire then."""


class DesignChange(Request):
    """What is to be different of a design; only the fields that are given, and not null, change."""

    tags: Tags | None = None
    """Words to find it by, without spaces and commas; they replace all that it has."""
    notes: Notes | None = None
    """What people write about it, plain text."""
    archived: bool | None = None
    """Whether lists and pictures leave it out; its files do not expire then."""
    pinned: bool | None = None
    """Whether it is kept from deletion; its files do not expire then."""


class Metric(Reply):
    """A number with its provenance."""

    name: str
    """What was found out, like latency or lut."""
    value: float
    """The number, in `unit`."""
    unit: str
    """Its unit."""
    fidelity: str
    """How it was found out: estimate, simulate, csynth, cosim, link or board."""
    tool: str
    """The tool that produced it."""
    tool_version: str
    """Version of the tool."""
    build_id: str | None
    """The build that produced it; null for the search's estimates."""


class Difference(Reply):
    """A metric at two neighbouring fidelities."""

    metric: str
    """Name of the metric."""
    unit: str
    """Unit of both values."""
    predicted_by: str
    """The weaker fidelity."""
    predicted: float
    """The value by the weaker fidelity, in `unit`."""
    fidelity: str
    """The better fidelity."""
    value: float
    """The value by the better fidelity, in `unit`."""
    error: float | None
    """Error of the prediction as a share of the better value, signed; null where that is 0."""


class Rung(Reply):
    """How a design stands at one stage of the ladder, by its newest build; null where it has none."""

    stage: str
    """The stage: simulate, csim, csynth, cosim, link or measure."""
    build_id: str | None = None
    """The newest build of the stage."""
    state: BuildState | None = None
    """How the build stands."""
    passed: bool | None = None
    """The verdict, of stages that have one."""
    failure: Failure | None = None
    """Why it failed: the design (infeasible), the tool, no licence, the node, or its time was up."""
    error: str | None = None
    """What was wrong, in words."""
    waiting: str | None = None
    """Why it does not run, while it waits."""
    started_at: datetime | None = None
    """When its last run began, UTC."""
    finished_at: datetime | None = None
    """When it ended, UTC."""


class Violation(Reply):
    """A budget that a design exceeds."""

    resource: str
    """Which budget, like lut or hbm_ports."""
    demand: float
    """What the design needs, in numbers of the resource."""
    bound: float
    """What there is, in the same unit."""


class Design(DesignSummary):
    """A design with all that is known about it."""

    exploration_id: str
    """The exploration that found it."""
    metrics: list[Metric]
    """Every number that is known of it, in the order in which they came."""
    differences: list[Difference]
    """Metrics that are known at two fidelities or more, neighbours compared."""
    assumed: str | None
    """What the times of whole replies (first_token_time, tokens_per_second) rest on besides, with its source; null
    where the design makes none.
    """
    violations: list[Violation]
    """Budgets of the platform that it exceeds."""
    ladder: list[Rung]
    """How it stands at each stage, in order."""
    builds: list[Build]
    """All its builds, newest first."""
    dataflow_available: bool
    """Whether its artifact dataflow.json is stored."""
    simulation_available: bool
    """Whether its artifact simulation.json is stored."""
    archive_available: bool
    """Whether its whole directory is stored."""


class Artifact(Reply):
    """A file of a design directory."""

    path: str
    """Where it lies in the directory."""
    size: int
    """Bytes."""
    digest: str
    """SHA-256 of the bytes."""
    media_type: str
    """What it is, like text/plain."""
    url: str
    """Path on the service to read it from."""


class TableColumn(Reply):
    """One column of a table of designs.

    A metric is called by name, unit and fidelity: `latency_us` is the estimate's, `latency_us_simulate` the
    simulator's. Resources stand twice: `lut_used` is a number, `lut` the share of what the platform has. Knobs begin
    with `knob_`.
    """

    name: str
    """What it is called; unique in the table."""
    kind: Literal["design", "metric", "share", "knob"]
    """What its values say: about the design itself, a metric, a share of the platform's budget, or a knob."""
    unit: str
    """Unit of its values; empty where they have none."""
    fidelity: str | None
    """How its values were found out: estimate, simulate, csynth, cosim, link or board; null where that says nothing."""
    values: list[Any]
    """One value a design, in the order of evaluation; null where there is none."""


class DesignTable(Reply):
    """All designs of an exploration with all metrics and knobs, by column."""

    exploration_id: str
    """The exploration that found them."""
    rows: int
    """How many designs there are."""
    objectives: list[str]
    """Columns that the search made small; the front is sorted by the first."""
    columns: list[TableColumn]
    """The first is `id`; all have `rows` values."""
