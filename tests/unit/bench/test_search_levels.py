"""Without a level of knobs, all of its knobs are usual ones, in the designs that a search begins with too."""

import pytest
from small_graphs import turned_product

from bench.search_levels import ALL, LEVELS, Without
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.space import DesignSpace

LARGE, U55C = turned_product(2048), load_platform("u55c")


@pytest.mark.parametrize("level", [ALL, *LEVELS])
def test_what_a_space_is_without_is_usual(level: str) -> None:
    whole, space = DesignSpace(LARGE, U55C), Without(LARGE, U55C, level, ())
    moved = {p.name.rpartition(".")[2] for p in space.parameters if len(p.choices) > 1}
    assert moved == {p.name.rpartition(".")[2] for p in whole.parameters} - {*LEVELS.get(level, ())}
    usual, starts = space.params_of(Knobs()), [space.params_of(knobs) for knobs in space.default_knobs()]
    assert usual is not None
    assert 1 < len(starts) <= len(whole.default_knobs())
    for params in starts:
        assert params is not None
        assert all(params[p.name] == usual[p.name] for p in space.parameters if len(p.choices) == 1)
