"""What the service replies (see api/schemas), and what commands that only look ask for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Protocol, TypedDict

from cli.sweep_replies import SweepReader

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
    priority: str
    owner: str | None
    builds: dict[str, int]
    vitis: str | None
    board: str | None
    waiting: str | None
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


class Attempt(TypedDict):
    """A run of a build that failed and was tried again."""

    attempt: int
    failure: str
    error: str
    node: str | None


class Build(TypedDict):
    """One stage of a workload, an exploration or a design; `waiting` says why it does not run."""

    id: str
    workload_id: str | None
    exploration_id: str | None
    design_id: str | None
    stage: str
    state: str
    queue: str
    node: str | None
    owner: str
    licence: str | None
    after: str | None
    waiting: str | None
    attempt: int
    history: list[Attempt]
    adopted_from: str | None
    options: dict[str, Any]
    verdict: dict[str, Any] | None
    failure: str | None
    error: str | None
    log_url: str | None
    live: bool
    tool_versions: dict[str, Any]
    created_at: str
    started_at: str | None
    finished_at: str | None


class Rung(TypedDict):
    """A design at one stage of the ladder; nulls where it has no build of it."""

    stage: str
    build_id: str | None
    state: str | None
    passed: bool | None
    error: str | None
    waiting: str | None
    started_at: str | None
    finished_at: str | None


class Metric(TypedDict):
    """A number with where it came from."""

    name: str
    value: float
    unit: str
    fidelity: str
    tool: str
    tool_version: str


class Difference(TypedDict):
    """A metric at two neighbouring fidelities; `error` is that of the prediction, signed."""

    metric: str
    unit: str
    predicted_by: str
    predicted: float
    fidelity: str
    value: float
    error: float | None


class Design(DesignSummary):
    """A design with everything known about it."""

    exploration_id: str
    metrics: list[Metric]
    differences: list[Difference]
    violations: list[dict[str, Any]]
    ladder: list[Rung]
    builds: list[Build]
    archive_available: bool


class Artifact(TypedDict):
    """One file of a design directory."""

    path: str
    size: int
    digest: str
    media_type: str
    url: str


class Node(TypedDict):
    """A machine of the farm: what it can do and can not, and how much of it is in use."""

    name: str
    state: str
    present: bool
    capabilities: dict[str, dict[str, str]]
    missing: dict[str, str]
    cpus: float
    memory_gb: float
    used_cpus: float
    used_memory_gb: float
    running: int
    version: str
    last_seen: str


class QueueState(TypedDict):
    """A queue: builds that wait and run, seconds that the oldest waits, nodes that serve it."""

    name: str
    waiting: int
    running: int
    oldest_s: float | None
    nodes: int


class Licence(TypedDict):
    """Tokens of a licence feature."""

    feature: str
    tokens: int
    used: int


class Farm(TypedDict):
    """The farm at a glance."""

    nodes: list[Node]
    queues: list[QueueState]
    licences: list[Licence]
    running: list[Build]


class ApiKey(TypedDict):
    """A key; `key`, its text, only in the reply that made it."""

    id: str
    name: str
    role: str
    prefix: str
    quotas: dict[str, int]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    key: NotRequired[str]


class AuditEntry(TypedDict):
    """Who changed what, or was not allowed to."""

    id: int
    at: str
    who: str | None
    address: str
    action: str
    target: str | None
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. Of an exploration the kind is `state`, `designs`, `front`, `promoted`, `simulated` or
    `build`; of a log it is `log`, with text, or `end`.
    """

    id: str
    kind: str
    data: Any


class Reader(SweepReader, Protocol):
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
    def builds(self, limit: int, **filters: str) -> list[Build]: ...
    def build(self, build: str) -> Build: ...
    def build_log(self, build: str, attempt: int | None = None) -> str: ...
    def farm(self) -> Farm: ...


class Operator(Protocol):
    """What an operator does to a farm: through its service as an admin, or on its database."""

    def set_node_state(self, node: str, state: str) -> Node: ...
    def forget_node(self, node: str) -> None: ...
    def put_licence(self, feature: str, tokens: int) -> Licence: ...
    def keys(self) -> list[ApiKey]: ...
    def add_key(self, request: Mapping[str, Any]) -> ApiKey: ...
    def revoke_key(self, key: str) -> None: ...
    def audit(self, limit: int) -> list[AuditEntry]: ...


def objectives(design: DesignSummary) -> tuple[float, float]:
    """Latency in us and energy in uJ of a design that can be built."""
    latency, energy = design["latency_us"], design["energy_uj"]
    if latency is None or energy is None:
        raise ValueError(f"design {design['id']} has no latency or energy: {design['reason']}")
    return latency, energy


def by_latency(designs: Iterable[DesignSummary]) -> list[DesignSummary]:
    """Designs that can be built, fastest first."""
    return sorted(designs, key=lambda design: objectives(design)[0])
