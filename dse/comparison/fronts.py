"""Two Pareto fronts of the same exploration, before and now: what is new, lost and moved, and what that is worth.

Designs are matched by their key, the digest of their knobs: the same key is the same design, whatever it measures.

Both fronts are worth their hypervolume on logarithmic axes, for objectives span decades and are traded by ratio (see
`dse.archive.knee`). The reference point lies a factor e beyond the worst value of both fronts, one unit on
each axis: so the two volumes compare, and a front of a single design that gets 2 % worse loses about 2 %. With another
partner a front has another reference: volumes of different comparisons do not compare, their ratios do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.archive import Entry
from dse.comparison.hypervolume import hypervolume
from dse.logarithms import Vector, logarithms, zero_marks

_BEYOND = 1.0  # of the worst, on a logarithmic axis


@dataclass(frozen=True, slots=True)
class Moved:
    """A design of both fronts whose numbers differ."""

    key: str
    before: Vector
    after: Vector


@dataclass(frozen=True, slots=True)
class FrontComparison:
    """Two fronts at one fidelity. `before` and `after` count their designs; volumes: see the module."""

    fidelity: str
    before: int
    after: int
    new: tuple[Entry, ...]
    lost: tuple[Entry, ...]
    moved: tuple[Moved, ...]
    volume_before: float
    volume_after: float

    @property
    def change(self) -> float | None:
        """Of the volume, relative: -0.05 is a loss of 5 %. None where there was no front before."""
        return self.volume_after / self.volume_before - 1.0 if self.volume_before else None

    @property
    def same(self) -> bool:
        return not (self.new or self.lost or self.moved)


def compare_fronts(
    fidelity: str, before: Sequence[Entry], after: Sequence[Entry], tolerance: float = 0.0
) -> FrontComparison:
    """Compare two fronts; a design has moved when one of its objectives changed by more than `tolerance`, relative.

    Raises ValueError for objectives that are negative.
    """
    old, new = ({entry.key: entry.objectives for entry in front} for front in (before, after))
    volume_before, volume_after = _volumes(list(old.values()), list(new.values()))
    return FrontComparison(
        fidelity=fidelity,
        before=len(old),
        after=len(new),
        new=tuple(entry for entry in after if entry.key not in old),
        lost=tuple(entry for entry in before if entry.key not in new),
        moved=tuple(
            Moved(key, was, new[key]) for key, was in old.items() if key in new and _differ(was, new[key], tolerance)
        ),
        volume_before=volume_before,
        volume_after=volume_after,
    )


def beyond(before: float, after: float, tolerance: float) -> bool:
    """Whether two values differ by more than `tolerance`, relative to the larger: whichever of them came first."""
    return abs(after - before) > tolerance * max(abs(before), abs(after))


def _differ(before: Vector, after: Vector, tolerance: float) -> bool:
    return any(beyond(x, y, tolerance) for x, y in zip(before, after, strict=True))


def _volumes(before: Sequence[Vector], after: Sequence[Vector]) -> tuple[float, float]:
    if not before and not after:
        return 0.0, 0.0
    zeros = zero_marks([*before, *after])
    old, new = logarithms(before, zeros), logarithms(after, zeros)
    reference = [max(column) + _BEYOND for column in zip(*old, *new, strict=True)]
    return hypervolume(old, reference), hypervolume(new, reference)
