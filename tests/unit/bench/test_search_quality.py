"""Fronts of samplers are compared by what they have of all that was found."""

from math import log

import pytest

from bench.search_quality import Point, Run, Union, apart, reaches, rows


def _run(sampler: str, *points: Point | None, seed: int = 0) -> Run:
    return Run(sampler, len(points), seed, points, 0, 0.0)


def test_a_share_is_of_the_hypervolume_of_all_fronts_in_logarithms() -> None:
    ours, theirs = _run("front", (1.0, 4.0), None, (3.0, 3.0)), _run("random", (4.0, 1.0), (8.0, 8.0))
    union = Union([ours, theirs])
    assert union.share([(1.0, 4.0), (3.0, 3.0), (4.0, 1.0)]) == pytest.approx(1)
    # Below (4.4, 4.4), which is 1.1 times the worst of the front: what lies beyond, as (8, 8), is no worst.
    wide, high, square = log(4.4), log(1.1), log(4.4 / 3)
    both = wide * high + square**2 - square * high
    assert union.share(ours.front()) == pytest.approx(both / (both + (wide - square) * high))
    assert union.share(theirs.front()) == pytest.approx(wide * high / (both + (wide - square) * high))
    assert union.share([(8.0, 8.0)]) == 0


def test_designs_that_differ_in_one_objective_alone_are_not_apart() -> None:
    assert apart([(1.0, 9.0), (1.01, 8.0), (1.03, 7.9), (1.1, 7.89), (1.2, 5.0)]) == 3


def test_how_many_accelerators_reach_a_share() -> None:
    late = _run("front", *[(2.0, 2.0)] * 14, *[(1.0, 1.0)] * 16)
    union = Union([late])
    assert [reaches([late], union, goal) for goal in (0.0, 1.0, 1.1)] == ["10", "20", "> 30"]


def test_a_row_has_the_worst_seed_and_the_goal_is_another_sampler_s() -> None:
    runs = [_run("front", *[(1.0, 1.0)] * 10), _run("front", *[(2.0, 2.0)] * 10, seed=1)]
    runs += [_run("random", *[(1.0, 1.0)] * 10, seed=seed) for seed in range(2)]
    (ours, theirs) = rows(runs)
    assert ours[:5] == ("10", "front", "0.0", "50.0", "> 10")
    assert theirs[:5] == ("10", "random", "100.0", "100.0", "10")
