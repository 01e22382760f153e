"""The board files say nothing that contradicts itself."""

import pytest

from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform, platform_names


@pytest.mark.parametrize("name", platform_names())
@pytest.mark.parametrize("resource", ["lut", "ff", "dsp", "bram36", "uram"])
def test_dies_add_up_to_the_board(name: str, resource: str) -> None:
    platform = load_platform(name)
    assert sum(getattr(slr, resource) for slr in platform.dies.slrs) == getattr(platform.budget, resource)


@pytest.mark.parametrize("name", platform_names())
def test_one_die_has_the_hbm_and_every_boundary_its_wires(name: str) -> None:
    dies = load_platform(name).dies
    assert sum(slr.hbm for slr in dies.slrs) == 1
    assert len(dies.sll) == len(dies.slrs) - 1
    assert 0 < dies.comfort < 1


def test_an_unknown_board_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="u55c"):
        load_platform("nope")
