"""The hypervolume against counting the cells of a grid, in one to three objectives."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.archive import ParetoArchive
from dse.comparison.hypervolume import hypervolume

_SIDE = 6


def counted(points: list[tuple[int, ...]], objectives: int) -> int:
    """Unit cells whose lower corner some point dominates or is."""
    cells = product(range(_SIDE), repeat=objectives)
    return sum(any(all(x <= c for x, c in zip(point, cell, strict=True)) for point in points) for cell in cells)


@pytest.mark.parametrize("objectives", [1, 2, 3])
@given(data=st.data())
def test_it_is_the_number_of_dominated_cells(objectives: int, data: st.DataObject):
    points = data.draw(st.lists(st.tuples(*[st.integers(0, _SIDE + 1)] * objectives), max_size=12))
    reference = (float(_SIDE),) * objectives
    assert hypervolume(points, reference) == counted(points, objectives)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), max_size=12))
def test_what_is_dominated_adds_nothing(points: list[tuple[float, ...]]):
    archive = ParetoArchive(3)
    for i, point in enumerate(points):
        archive.add(str(i), point)
    front = [entry.objectives for entry in archive.front()]
    reference = (2.0, 2.0, 2.0)
    assert hypervolume(points, reference) == pytest.approx(hypervolume(front, reference))
