"""What commands ask a service or a database for. What it replies is in millrace.wire, which is imported where it is
used: it loads more than `millrace --help` needs.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from millrace.wire import (
        ApiKey,
        AuditEntry,
        Build,
        Design,
        DesignSummary,
        Exploration,
        Farm,
        Licence,
        MadeApiKey,
        Model,
        NewApiKey,
        Node,
        Scatter,
        Sweep,
        SweepRun,
        SweepRunSummary,
    )


class Reader(Protocol):
    """What commands that only look need: answered by a service, or from the database."""

    @property
    def address(self) -> str | None:
        """Of the service that answers, None where none does."""
        ...

    def models(self) -> list["Model"]: ...
    def model(self, model: str) -> "Model": ...
    def explorations(self) -> list["Exploration"]: ...
    def exploration(self, exploration: str) -> "Exploration": ...
    def front(self, exploration: str) -> list["DesignSummary"]:
        """In order of evaluation."""
        ...

    def scatter(self, exploration: str) -> "Scatter": ...
    def design(self, design: str) -> "Design": ...
    def builds(self, limit: int, **filters: str) -> list["Build"]: ...
    def build(self, build: str) -> "Build": ...
    def build_log(self, build: str, attempt: int | None = None) -> str: ...
    def farm(self) -> "Farm": ...
    def sweeps(self) -> list["Sweep"]: ...
    def sweep(self, sweep: str) -> "Sweep": ...
    def sweep_runs(self, sweep: str, limit: int) -> list["SweepRunSummary"]: ...
    def sweep_run(self, run: str) -> "SweepRun": ...


class Operator(Protocol):
    """What an operator does to a farm: through its service as an admin, or on its database."""

    def set_node_state(self, node: str, state: str) -> "Node": ...
    def forget_node(self, node: str) -> None: ...
    def put_licence(self, feature: str, tokens: int) -> "Licence": ...
    def keys(self) -> list["ApiKey"]: ...
    def add_key(self, request: "NewApiKey") -> "MadeApiKey": ...
    def revoke_key(self, key: str) -> None: ...
    def audit(self, limit: int) -> list["AuditEntry"]: ...


def objectives(design: "DesignSummary") -> tuple[float, float]:
    """Latency in us and energy in uJ of a design that can be built."""
    if design.latency_us is None or design.energy_uj is None:
        raise ValueError(f"design {design.id} has no latency or energy: {design.reason}")
    return design.latency_us, design.energy_uj


def by_latency(designs: Iterable["DesignSummary"]) -> list["DesignSummary"]:
    """Designs that can be built, fastest first."""
    return sorted(designs, key=lambda design: objectives(design)[0])
