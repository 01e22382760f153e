"""Designs: in a list, whole, and their files."""

from datetime import datetime
from typing import Any

from pydantic import Field

from api.schemas.builds import Build
from api.schemas.common import Notes, Reply, Request, Tags
from db.models import BuildState, Failure


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
    tags: list[str] = Field(description="words to find it by")
    notes: str = Field(description="what people wrote about it, plain text")


class DesignChange(Request):
    """Only the fields that are given, and not null, change."""

    tags: Tags | None = None
    notes: Notes | None = None


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
    """A metric at two neighbouring fidelities: `predicted` by the weaker one (`predicted_by`), `value` by `fidelity`.

    `error`: of the prediction, relative and signed; null where the better value is 0.
    """

    metric: str
    unit: str
    predicted_by: str
    predicted: float
    fidelity: str
    value: float
    error: float | None


class Rung(Reply):
    """How a design stands at one stage of the ladder, by its newest build; null where it has none. `passed` is the
    verdict of stages that have one.
    """

    stage: str
    build_id: str | None = None
    state: BuildState | None = None
    passed: bool | None = None
    failure: Failure | None = None
    error: str | None = None
    waiting: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class Violation(Reply):
    """A budget that a design exceeds."""

    resource: str
    demand: float
    bound: float


class Design(DesignSummary):
    """A design with all that is known about it. `ladder`: one entry a stage, in order; `builds`: all of them, newest
    first. `archive_available`: its whole directory is stored.
    """

    exploration_id: str
    metrics: list[Metric]
    differences: list[Difference]
    violations: list[Violation]
    ladder: list[Rung]
    builds: list[Build]
    dataflow_available: bool
    simulation_available: bool
    archive_available: bool


class Artifact(Reply):
    """A file of a design directory; `digest` is the SHA-256 of its `size` bytes."""

    path: str
    size: int
    digest: str
    media_type: str
    url: str
