from math import inf, nan

import pytest

from dse.archive import Entry, ParetoArchive, knee


def archive(*points: tuple[float, ...]) -> ParetoArchive:
    made = ParetoArchive(len(points[0]))
    for i, point in enumerate(points):
        made.add(str(i), point)
    return made


def test_front_is_sorted_and_undominated():
    front = archive((3, 1), (1, 3), (2, 2), (2, 3), (4, 4)).front()
    assert [e.objectives for e in front] == [(1, 3), (2, 2), (3, 1)]
    assert [e.key for e in front] == ["1", "2", "0"]


def test_a_better_design_removes_what_it_beats():
    made = archive((1, 4), (2, 3), (3, 2), (4, 1))
    assert made.add("new", (1.5, 1.5))
    assert [e.objectives for e in made.front()] == [(1, 4), (1.5, 1.5), (4, 1)]


@pytest.mark.parametrize("objectives", [2, 3])
def test_of_equals_the_first_stays(objectives: int):
    made = ParetoArchive(objectives)
    assert made.add("first", (1.0,) * objectives)
    assert not made.add("second", (1.0,) * objectives)
    assert [e.key for e in made.front()] == ["first"]
    assert len(made) == 1


@pytest.mark.parametrize("point", [(1.5, 2.5), (2, 2), (0.5, 9), (3, 1.5), (2.0, 2.1), (1, 3), (9, 0.5)])
def test_it_says_what_it_would_take(point: tuple[float, float]):
    made = archive((3, 1), (1, 3), (2, 2))
    assert made.admits(point) == made.add("new", point)


@pytest.mark.parametrize("bad", [(1.0,), (1.0, nan), (inf, 1.0)])
def test_objectives_must_be_finite_numbers(bad: tuple[float, ...]):
    with pytest.raises(ValueError, match="key: expected 2 finite objectives"):
        ParetoArchive().add("key", bad)


def test_one_objective_has_no_front():
    with pytest.raises(ValueError, match="at least 2"):
        ParetoArchive(1)


def test_knee_is_found_across_decades():
    front = archive((1, 10000), (10, 30), (1000, 20), (10000, 10)).front()
    assert front[knee(front)].objectives == (10, 30)


def test_knee_of_a_front_without_one_is_the_least_product():
    front = archive((1, 100), (90, 95), (100, 2)).front()
    assert knee(front) == 0
    # As it was on a real front: 5 % slower for 23 % less energy is the better compromise, though it is an end.
    front = archive((65.8, 1600), (139.7, 995), (146.6, 762)).front()
    assert front[knee(front)].objectives == (65.8, 1600)
    front = archive((100, 1600), (139.7, 995), (146.6, 762)).front()
    assert front[knee(front)].objectives == (146.6, 762)


def test_knee_where_a_design_uses_none_of_something():
    front = archive((1, 40), (2, 3), (50, 1), (90, 0)).front()
    assert front[knee(front)].objectives == (2, 3)


def test_knee_of_three_objectives_is_farthest_below_the_plane_of_the_ends():
    made = ParetoArchive(3)
    for number, point in enumerate([(1, 2, 2), (100, 1, 2), (100, 2, 1), (8, 1.3, 1.3), (9, 1.4, 1.2)]):
        made.add(str(number), point)
    front = made.front()
    assert front[knee(front)].objectives == (8, 1.3, 1.3), "the first has the least product, and is an end"


def test_knee_of_small_fronts():
    assert knee(archive((5, 5)).front()) == 0
    assert knee(archive((1, 2), (2, 1)).front()) == 0


@pytest.mark.parametrize("front", [[], [Entry("a", (-1.0, 1.0))]])
def test_knee_needs_objectives(front: list[Entry]):
    with pytest.raises(ValueError, match=r"front|negative"):
        knee(front)
