"""What the service replies about sweeps (see api/schemas/sweeps.py)."""

import re
from typing import Any, Protocol, TypedDict

_RUN_ID = re.compile(r"run_[0-9a-z]{18}")


def is_run(key: str) -> bool:
    """Whether this is the id of a run, not the name of a sweep."""
    return _RUN_ID.fullmatch(key) is not None


class SweepRunSummary(TypedDict):
    """One run of a sweep."""

    id: str
    sweep_id: str
    state: str
    cause: str
    scheduled_for: str | None
    baseline_id: str | None
    explorations: int
    ended: int
    builds: dict[str, int] | None
    regression_count: int
    improvement_count: int
    index: float | None
    error: str | None
    accepted: dict[str, Any] | None
    webhook: dict[str, Any] | None
    created_at: str
    finished_at: str | None


class Regression(TypedDict):
    """What got worse, as a sentence."""

    slot: str
    kind: str
    text: str


class MetricChange(TypedDict):
    """A metric of a design that both runs know."""

    slot: str | None
    design: dict[str, Any]
    metric: str
    fidelity: str
    unit: str
    before: float
    after: float
    change: float | None


class FrontChange(TypedDict):
    """A front at one fidelity, in the baseline and now; lists are cut, counts are not."""

    fidelity: str
    before: int
    after: int
    hypervolume_before: float
    hypervolume_after: float
    change: float | None
    new: list[dict[str, Any]]
    new_count: int
    lost: list[dict[str, Any]]
    lost_count: int
    moved: list[dict[str, Any]]
    moved_count: int


class SlotComparison(TypedDict):
    """One exploration of a run beside its partner in the baseline."""

    slot: str
    exploration: str
    error: str | None
    result: str
    fronts: list[FrontChange]
    changes: list[dict[str, Any]]


class SweepRun(SweepRunSummary):
    """A run with its comparison."""

    sweep: str
    tolerance: float | None
    regressions: list[Regression]
    improvements: list[MetricChange]
    slots: list[SlotComparison]


class Sweep(TypedDict):
    """A schedule."""

    id: str
    name: str
    cron: str
    zone: str
    misfire: str
    enabled: bool
    next_at: str | None
    explorations: int
    options: dict[str, Any]
    webhook: str | None
    last_run: SweepRunSummary | None


class SweepReader(Protocol):
    """What commands that look at sweeps need: answered by a service, or from the database."""

    def sweeps(self) -> list[Sweep]: ...
    def sweep(self, sweep: str) -> Sweep: ...
    def sweep_runs(self, sweep: str, limit: int) -> list[SweepRunSummary]: ...
    def sweep_run(self, run: str) -> SweepRun: ...
