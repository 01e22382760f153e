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
    verify: int
    evaluated: int
    feasible: int
    front_size: int
    created_at: str


class CsimSummary(TypedDict):
    """The newest C simulation of a design."""

    state: str
    passed: bool | None
    max_rel_error: float | None


class DesignSummary(TypedDict):
    """A design as lists show it; latency in us, energy in uJ, null where it can not be built (`reason` says why)."""

    id: str
    number: int
    on_front: bool
    feasible: bool
    latency_us: float | None
    energy_uj: float | None
    reason: str | None
    knobs: dict[str, Any]
    csim: CsimSummary | None


class Scatter(TypedDict):
    """All designs of an exploration, by column."""

    id: list[str]
    number: list[int]
    latency_us: list[float | None]
    energy_uj: list[float | None]
    feasible: list[bool]
    on_front: list[bool]
    csim: list[str | None]


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
    violations: list[dict[str, Any]]
    builds: list[Build]


class Artifact(TypedDict):
    """One file of a design directory."""

    path: str
    size: int
    digest: str
    media_type: str
    url: str


@dataclass(frozen=True, slots=True)
class Event:
    """One event of an exploration: kind is `state`, `designs`, `front` or `build`."""

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
