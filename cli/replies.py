"""What the service replies (see api/schemas.py), and what commands that only look ask for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

ENDED = frozenset({"done", "failed", "cancelled"})


class ModelRef(TypedDict):
    """A stored or built-in network; `kind` is "builtin", "config", or the format of its file."""

    id: str
    name: str
    kind: str


class EstimateErrors(TypedDict):
    """Shares by which the estimates are off the better fidelity; `bias` is signed."""

    metric: str
    fidelity: str
    n: int
    median: float
    p95: float
    worst: float
    bias: float
    worst_design: str


class Exploration(TypedDict):
    """One search and how far it is."""

    id: str
    model: ModelRef
    workload: dict[str, Any]
    platform: str
    state: str
    error: str | None
    budget: int
    seed: int
    sampler: str
    simulate: int
    calibration: int
    verify: int
    evaluated: int
    feasible: int
    front_size: int
    promoted: int
    simulated: int
    estimate_errors: EstimateErrors | None
    created_at: str


class CsimSummary(TypedDict):
    """The newest C simulation of a design."""

    state: str
    passed: bool | None
    max_rel_error: float | None


class SimulationSummary(TypedDict):
    """The newest timing simulation of a design; `estimate_error` is that of its estimated latency, signed."""

    state: str
    latency_us: float | None
    estimate_error: float | None
    deadlock: str | None


class Flag(TypedDict):
    """A value that can not be true."""

    metric: str
    fidelity: str
    text: str


class DesignSummary(TypedDict):
    """A design as lists show it; estimated latency in us and energy in uJ, null where it can not be built, as `reason`
    says.
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


class Scatter(TypedDict):
    """All designs of an exploration, by column."""

    id: list[str]
    number: list[int]
    latency_us: list[float | None]
    energy_uj: list[float | None]
    feasible: list[bool]
    on_front: list[bool]
    csim: list[str | None]
    simulated_us: list[float | None]
    simulation: list[str | None]


class Build(TypedDict):
    """One stage of one design."""

    id: str
    design_id: str | None
    stage: str
    state: str
    verdict: dict[str, Any] | None
    error: str | None


class Design(DesignSummary):
    """A design with everything known about it."""

    exploration_id: str
    metrics: list[dict[str, Any]]
    differences: list[dict[str, Any]]
    violations: list[dict[str, Any]]
    builds: list[Build]
    archive_available: bool


class Artifact(TypedDict):
    """One file of a design directory."""

    path: str
    size: int
    digest: str
    media_type: str
    url: str


@dataclass(frozen=True, slots=True)
class Event:
    """One event of an exploration: kind is `state`, `designs`, `front`, `promoted`, `simulated` or `build`."""

    id: str
    kind: str
    data: dict[str, Any]


class Reader(Protocol):
    """What commands that only look need: answered by a service, or from the database."""

    @property
    def address(self) -> str | None:
        """Of the service that answers, None where none does."""
        ...

    def models(self) -> list[dict[str, Any]]: ...
    def model(self, model: str) -> dict[str, Any]: ...
    def explorations(self) -> list[Exploration]: ...
    def exploration(self, exploration: str) -> Exploration: ...
    def front(self, exploration: str) -> list[DesignSummary]: ...
    def scatter(self, exploration: str) -> Scatter: ...
    def design(self, design: str) -> Design: ...


def objectives(design: DesignSummary) -> tuple[float, float]:
    """Latency in us and energy in uJ of a design that can be built."""
    latency, energy = design["latency_us"], design["energy_uj"]
    if latency is None or energy is None:
        raise ValueError(f"design {design['id']} has no latency or energy: {design['reason']}")
    return latency, energy


def by_latency(designs: Iterable[DesignSummary]) -> list[DesignSummary]:
    """Designs that can be built, fastest first."""
    return sorted(designs, key=lambda design: objectives(design)[0])
