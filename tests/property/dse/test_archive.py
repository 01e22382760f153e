"""The archive against the definition, pair by pair."""

from collections.abc import Sequence
from math import isclose, log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.archive import Entry, ParetoArchive, dominates, front_of, knee

values = st.integers(1, 12).map(float) | st.floats(1e-3, 1e6)


def points(objectives: int) -> st.SearchStrategy[list[tuple[float, ...]]]:
    return st.lists(st.tuples(*[values] * objectives), max_size=40)


def filled(all_points: list[tuple[float, ...]], objectives: int) -> ParetoArchive:
    archive = ParetoArchive(objectives)
    for i, point in enumerate(all_points):
        archive.add(str(i), point)
    return archive


def undominated(all_points: list[tuple[float, ...]]) -> dict[tuple[float, ...], str]:
    """Objectives of the front, and the first design that has them."""
    front = {p for p in all_points if not any(dominates(q, p) for q in all_points)}
    return {p: str(all_points.index(p)) for p in front}


@pytest.mark.parametrize("objectives", [2, 3, 4])
@given(data=st.data())
def test_front_is_what_nothing_dominates(objectives: int, data: st.DataObject):
    all_points = data.draw(points(objectives))
    front = filled(all_points, objectives).front()
    assert {e.objectives: e.key for e in front} == undominated(all_points)
    assert [e.objectives for e in front] == sorted(e.objectives for e in front)
    assert len(front) == len({e.objectives for e in front})
    assert front_of((str(i), point) for i, point in enumerate(all_points)) == front


@given(points(2))
def test_add_says_whether_the_design_is_on_the_front(all_points: list[tuple[float, ...]]):
    archive = ParetoArchive()
    for i, point in enumerate(all_points):
        added = archive.add(str(i), point)
        assert added == (str(i) in {e.key for e in archive.front()})


@given(points(2))
def test_two_objectives_are_the_general_case(all_points: list[tuple[float, ...]]):
    widened = filled([(*p, 1.0) for p in all_points], 3).front()
    assert [e.objectives for e in filled(all_points, 2).front()] == [e.objectives[:2] for e in widened]


def _height(entry: Entry, front: Sequence[Entry]) -> float:
    """Above the chord between the ends of the front, in log scale over its extent."""
    total = -1.0
    for value, column in zip(entry.objectives, zip(*(e.objectives for e in front), strict=True), strict=True):
        least, most = min(column), max(column)
        total += log(value / least) / (log(most / least) or 1.0)
    return total


@given(points(2).filter(bool), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_knee_does_not_depend_on_units(all_points: list[tuple[float, ...]], a: float, b: float):
    # Powers of two scale without rounding, so that ties stay ties.
    scale_a, scale_b = 2.0 ** round(a % 8), 2.0 ** -round(b % 8)
    front = filled(all_points, 2).front()
    scaled = filled([(x * scale_a, y * scale_b) for x, y in all_points], 2).front()
    assert [e.key for e in front] == [e.key for e in scaled]
    below = [k for k, entry in enumerate(front) if _height(entry, front) < -1e-6]
    products = [prod(entry.objectives) for entry in front]
    assert knee(front) in (below or [k for k, product in enumerate(products) if isclose(product, min(products))])
