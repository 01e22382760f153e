"""Groups of a front: designs that the estimate can not tell apart, with the one of each to look at.

Two designs are alike where none of their objectives differs by more than the error of the estimates, as a ratio. The
error is known of the latency alone, by simulation; energy follows latency, and of all else nothing better is known, so
that the same share is taken.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from math import floor, log1p

from dse.archive import Entry
from dse.logarithms import Vector, logarithms, zero_marks
from dse.promote import ranking

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Group:
    """Designs by key, `members` in the front's order: all are alike with the representative, which is one of them.
    `rank`, from 1: the place of the representative in the order in which to look at them.
    """

    representative: str
    members: tuple[str, ...]
    rank: int


def groups(
    front: Sequence[Entry], error: float, simulated: Collection[str], picked: Collection[str] = ()
) -> list[Group]:
    """A front by estimate, sorted by the first objective, as groups in the order of their representatives.

    Representatives come in the order of `dse.promote.ranking`, those with a key in `picked` before all others, as they
    are recommended and proven, then those in `simulated`: so no member has a better fidelity. Each takes what is alike
    with it and in no group yet. `error` is a share, from 0. O(n log n): of a grid with cells as wide as the error, each
    holds one representative at most.
    """
    order = sorted(ranking(front), key=lambda entry: (entry.key not in picked, entry.key not in simulated))
    places = {entry.key: place for place, entry in enumerate(front)}
    points = _in_errors(front, error)
    found: list[list[int]] = []
    chosen: dict[tuple[int, ...], int] = {}  # representatives by cell
    for place in (places[entry.key] for entry in order):
        point = points[place]
        cell = tuple(map(floor, point))
        near = (chosen.get(beside) for beside in _around(cell)) if error else ()
        alike = [rank for rank in near if rank is not None and _are_alike(point, points[found[rank][0]])]
        if alike:
            found[min(alike)].append(place)
        else:
            chosen[cell] = len(found)
            found.append([place])
    ranked = [
        Group(front[members[0]].key, tuple(front[place].key for place in sorted(members)), rank)
        for rank, members in enumerate(found, start=1)
    ]
    return sorted(ranked, key=lambda group: places[group.representative])


def _in_errors(front: Sequence[Entry], error: float) -> list[Vector]:
    """The designs on logarithmic axes of which one unit is the error."""
    objectives = [entry.objectives for entry in front]
    unit = log1p(error) or 1.0
    return [tuple(value / unit for value in point) for point in logarithms(objectives, zero_marks(objectives))]


def _around(cell: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The cell and all that touch it."""
    return list(product(*((at - 1, at, at + 1) for at in cell)))


def _are_alike(one: Vector, other: Vector) -> bool:
    return all(abs(a - b) <= 1.0 + _ROUNDING for a, b in zip(one, other, strict=True))
