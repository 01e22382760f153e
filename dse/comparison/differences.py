"""How the metrics of designs that two runs know differ, at every fidelity that both have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dse.comparison.fronts import beyond
from dse.comparison.results import DesignResults, Reading, Results
from dse.objectives import OBJECTIVES

LESS_IS_BETTER = frozenset({*OBJECTIVES, "cycles", "interval", "clock_estimated", "slowest_ii"})
MORE_IS_BETTER = frozenset({"clock", "fmax", "inputs_per_second", "tokens_per_second", "hbm_share", "qor_score"})
_SAID_BY: Mapping[str, str] = {
    "cycles": "latency",
    "interval": "latency",
    "fmax": "clock_estimated",
    "slack": "clock_estimated",
}
"""Not told where another metric of the stage says it. By ratio a slack, which is near zero, is mostly noise."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of one design, known to both runs at the same fidelity, from the same stage.

    `front`: the design is on the front of one of the runs. `change` is relative and signed, None where the value was 0;
    `worse` None where neither direction is.
    """

    design: DesignResults
    front: bool
    stage: str
    metric: str
    fidelity: str
    unit: str
    before: float
    after: float
    change: float | None
    worse: bool | None

    @property
    def size(self) -> float:
        """To rank by; what differs by the same share is of the same size, whatever its last digits."""
        return float("inf") if self.change is None else round(abs(self.change), 6)


def differences(before: Results, after: Results, tolerance: float) -> list[Difference]:
    """Metrics that differ by more than `tolerance`, relative, the largest differences first."""
    found = [
        difference
        for key, design in after.designs.items()
        if key in before.designs
        for difference in _of_design(before.designs[key], design, tolerance)
    ]
    return sorted(found, key=lambda d: (-d.size, d.design.number, d.stage, d.metric))


def _of_design(before: DesignResults, after: DesignResults, tolerance: float) -> Iterator[Difference]:
    for (stage, metric), was in before.metrics.items():
        now = after.metrics.get((stage, metric))
        said = (stage, _SAID_BY.get(metric, "")) in before.metrics.keys() & after.metrics.keys()
        if now is None or said or now.fidelity != was.fidelity or now.unit != was.unit:
            continue
        if beyond(was.value, now.value, tolerance):
            yield _difference(before.on_front or after.on_front, after, stage, metric, was, now)


def _difference(front: bool, design: DesignResults, stage: str, metric: str, was: Reading, now: Reading) -> Difference:
    return Difference(
        design=design,
        front=front,
        stage=stage,
        metric=metric,
        fidelity=now.fidelity,
        unit=now.unit,
        before=was.value,
        after=now.value,
        change=(now.value - was.value) / abs(was.value) if was.value else None,
        worse=_worse(metric, was.value, now.value),
    )


def _worse(metric: str, before: float, after: float) -> bool | None:
    if metric in LESS_IS_BETTER:
        return after > before
    return after < before if metric in MORE_IS_BETTER else None
