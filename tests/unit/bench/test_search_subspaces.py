"""A search in a sub-space is measured by all designs that it has."""

from random import Random

from small_graphs import mlp

from bench.search_subspaces import drawn, exhausted, searched
from compiler.platforms.platform import load_platform
from dse.space import DesignSpace

U55C = load_platform("u55c")


def test_a_draw_has_a_start_design_and_as_many_as_asked_for() -> None:
    space = DesignSpace(mlp(), U55C)
    found = [drawn(space, 500, Random(seed)) for seed in range(3)]
    assert all(one.size >= 500 and one.default_knobs() for one in found)
    assert found[0].parameters == drawn(space, 500, Random(0)).parameters != found[1].parameters


def test_a_search_finds_nothing_that_the_whole_space_has_not() -> None:
    objectives = ("latency", "energy", "area")
    space = drawn(DesignSpace(mlp(), U55C), 30, Random(0))
    whole = exhausted(mlp(), U55C, space, objectives)
    some = searched(mlp(), U55C, space, objectives, 10, 0)
    assert len(some) == 10 <= len(whole) <= space.size
    assert {*some} <= {*whole}
    assert sorted(map(repr, searched(mlp(), U55C, space, objectives, space.size, 0))) == sorted(map(repr, whole))
