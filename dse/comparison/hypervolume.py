"""Hypervolume: how much a front dominates below a reference point, in any number of objectives. All are minimised."""

from bisect import bisect_left
from collections.abc import Sequence

from dse.logarithms import Vector


def hypervolume(points: Sequence[Sequence[float]], reference: Sequence[float]) -> float:
    """Volume of what at least one of `points` dominates and `reference` bounds. Exact; points need not be a front.

    Up to two objectives: O(n log n). Each more is swept in slices: O(n) times as long, fine for the two or three that a
    search has. Points beyond the reference count nothing.
    """
    inside = sorted(tuple(p) for p in points if all(x < r for x, r in zip(p, reference, strict=True)))
    if len(reference) == 1:
        return reference[0] - inside[0][0] if inside else 0.0
    return _area(inside, reference) if len(reference) == 2 else _sliced(inside, reference)


def _area(points: Sequence[Vector], reference: Sequence[float]) -> float:
    """`points` sorted by the first objective, all inside."""
    area, ceiling = 0.0, reference[1]
    for first, second in points:
        if second < ceiling:
            area += (reference[0] - first) * (ceiling - second)
            ceiling = second
    return area


def _sliced(points: Sequence[Vector], reference: Sequence[float]) -> float:
    """Between two neighbouring values of the last objective the same points count."""
    levels = sorted({p[-1] for p in points})
    ranked = sorted(points, key=lambda p: p[-1])
    tops = [*levels, reference[-1]][1:]
    flat = [p[:-1] for p in ranked]
    counted = [bisect_left(ranked, top, key=lambda p: p[-1]) for top in tops]
    return sum(
        (top - level) * hypervolume(flat[:count], reference[:-1])
        for level, top, count in zip(levels, tops, counted, strict=True)
    )
