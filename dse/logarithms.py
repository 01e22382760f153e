"""Objectives on logarithmic axes: they span decades and are traded by ratio."""

from collections.abc import Sequence
from math import e, log

Vector = tuple[float, ...]


def zero_marks(points: Sequence[Sequence[float]]) -> Vector:
    """What 0 counts as in each objective of `points`: one unit of the axis below the least that is more.

    A design can use none of a resource. No ratio says how much better that is than a little.
    """
    columns = zip(*points, strict=True)
    return tuple(min((value for value in column if value > 0), default=1.0) / e for column in columns)


def logarithms(points: Sequence[Sequence[float]], zeros: Sequence[float]) -> list[Vector]:
    """The points on logarithmic axes, with the `zero_marks` of all that are compared with one another. Raises
    ValueError for objectives that are negative.
    """
    if any(value < 0 for point in points for value in point):
        raise ValueError("a front is compared by ratios: its objectives must not be negative")
    return [tuple(log(value or zero) for value, zero in zip(point, zeros, strict=True)) for point in points]
