"""What one exploration came to, as far as a comparison with another run of it looks."""

from collections.abc import Mapping
from dataclasses import dataclass

from dse.archive import Entry
from dse.comparison.causes import Circumstances
from dse.objectives import DEFAULT


@dataclass(frozen=True, slots=True)
class Reading:
    """A metric's value and where it came from."""

    value: float
    unit: str
    fidelity: str


@dataclass(frozen=True, slots=True)
class DesignResults:
    """One design. `metrics` by (stage, name), where the estimates are of stage `search`; `failures` has for each stage
    that has ended why it failed, None where it passed. `infeasible`: why it can not be built, None where it can.
    """

    id: str
    key: str
    number: int
    on_front: bool
    infeasible: str | None
    metrics: Mapping[tuple[str, str], Reading]
    failures: Mapping[str, str | None]

    @property
    def known(self) -> frozenset[str]:
        """Stages that say something of the design: they passed, or gave it a metric."""
        passed = (stage for stage, error in self.failures.items() if error is None)
        return frozenset({stage for stage, _ in self.metrics}.union(passed))


@dataclass(frozen=True, slots=True)
class Results:
    """One exploration. `designs` by key: those on a front or looked at beyond their estimates; `fronts` by fidelity, of
    these `objectives`; `failed`: why the exploration failed, None where it did not.
    """

    id: str
    designs: Mapping[str, DesignResults]
    fronts: Mapping[str, tuple[Entry, ...]]
    circumstances: Circumstances
    failed: str | None = None
    objectives: tuple[str, ...] = DEFAULT

    def knows_more_than(self, before: "Results") -> bool:
        """Whether a stage says something of a design of both of which it said nothing before, or `before` failed.

        Nobody would see that get worse if `before` went on being what later runs are compared with.
        """
        if before.failed is not None and self.failed is None:
            return True
        both = self.designs.keys() & before.designs.keys()
        return any(self.designs[key].known - before.designs[key].known for key in both)
