"""Pareto archive: the designs that no other design beats in every objective. All objectives are minimised.

Optuna's `best_trials` compares all pairs (seconds at 5000 trials); two objectives need only a sorted list.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import isfinite
from operator import le
from typing import NamedTuple

from dse.logarithms import logarithms, zero_marks

KNEE = (
    "farthest below the chord between the ends of the front (of three objectives: the plane), in log scale over its "
    "extent; where none lies below it, with the least product of the objectives"
)
"""The definition, as people are told it: the knee is the design ..."""
_ON_THE_CHORD = 1e-9  # rounding


class Entry(NamedTuple):
    """A design of the front."""

    key: str
    objectives: tuple[float, ...]


def dominates(a: Sequence[float], b: Sequence[float]) -> bool:
    """`a` is nowhere worse than `b` and somewhere better."""
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


class ParetoArchive:
    """The front of all designs added so far. Add feasible designs only.

    Of designs with equal objectives the first one added stays, so the front does not depend on what came later.
    Two objectives: O(log n) comparisons an insertion. More: O(n).
    """

    def __init__(self, objectives: int = 2):
        if objectives < 2:
            raise ValueError(f"a Pareto front needs at least 2 objectives, not {objectives}")
        self._objectives = objectives
        # Sorted by the objectives. With two of them, the second then falls strictly while the first rises.
        self._front: list[Entry] = []

    def __len__(self) -> int:
        return len(self._front)

    def add(self, key: str, objectives: Sequence[float]) -> bool:
        """Add a design; says whether it is now on the front. Raises ValueError for objectives that are no numbers."""
        if len(objectives) != self._objectives or not all(map(isfinite, objectives)):
            raise ValueError(f"{key}: expected {self._objectives} finite objectives, got {list(objectives)}")
        entry = Entry(key, tuple(objectives))
        if not self.admits(entry.objectives):
            return False
        if self._objectives == 2:
            self._put_2d(entry)
        else:
            self._put_any(entry)
        return True

    def admits(self, objectives: Sequence[float]) -> bool:
        """Whether a design with these objectives would enter the front: none of it is as good in all."""
        known = bisect_right(self._front, objectives[0], key=_first)  # what is behind is worse in the first
        if self._objectives == 2:
            return not known or self._front[known - 1].objectives[1] > objectives[1]
        return not any(all(map(le, entry.objectives, objectives)) for entry in self._front[:known])

    def front(self) -> list[Entry]:
        """The front, sorted by the first objective."""
        return list(self._front)

    def _put_2d(self, entry: Entry) -> None:
        first, second = entry.objectives
        start = bisect_left(self._front, first, key=_first)
        # From `start` on everything is as slow or slower; what is not better in the second objective is beaten.
        stop = bisect_right(self._front, -second, lo=start, key=lambda e: -e.objectives[1])
        self._front[start:stop] = [entry]

    def _put_any(self, entry: Entry) -> None:
        start = bisect_left(self._front, entry.objectives[0], key=_first)
        rest = [e for e in self._front[start:] if not all(map(le, entry.objectives, e.objectives))]
        self._front[start:] = rest
        self._front.insert(bisect_left(self._front, entry.objectives, key=lambda e: e.objectives), entry)


def _first(entry: Entry) -> float:
    return entry.objectives[0]


def front_of(designs: Iterable[tuple[str, Sequence[float]]]) -> list[Entry]:
    """The front of designs by key, all with the same objectives; sorted by the first of these. Of equal designs the
    first one stays. Two and three objectives: O(n log n) comparisons.
    """
    found = sorted((Entry(key, tuple(objectives)) for key, objectives in designs), key=lambda entry: entry.objectives)
    if not found:
        return []
    # In this order no later design beats an earlier one, so that of three objectives the last two say what is beaten.
    last = max(2, len(found[0].objectives) - 1)
    archive = ParetoArchive(last)
    return [entry for entry in found if archive.add(entry.key, entry.objectives[-last:])]


def knee(front: Sequence[Entry]) -> int:
    """Index of the design that `KNEE` defines, which may be an end; `front` is sorted by its first objective.

    Log scale, because objectives span decades and are traded by ratio (twice as fast for 10 % more energy): a linear
    one would only see the slow end.
    Raises ValueError for an empty front or objectives that are negative.
    """
    if not front:
        raise ValueError("an empty front has no knee")
    found = [entry.objectives for entry in front]
    columns = list(zip(*logarithms(found, zero_marks(found)), strict=True))
    scaled = [_from_0_to_1(column) for column in columns]
    # An end is 0 in its own objective and 1 in the others, so that the chord of the normalised front is x + y = 1, the
    # plane x + y + z = 2: the distance below it falls with the sum.
    sums = [sum(point) for point in zip(*scaled, strict=True)]
    lowest = min(range(len(front)), key=lambda i: sums[i])
    if sums[lowest] < len(columns) - 1 - _ON_THE_CHORD:
        return lowest
    return min(range(len(front)), key=lambda i: sum(column[i] for column in columns))


def _from_0_to_1(values: Sequence[float]) -> list[float]:
    least = min(values)
    extent = (max(values) - least) or 1.0
    return [(value - least) / extent for value in values]
