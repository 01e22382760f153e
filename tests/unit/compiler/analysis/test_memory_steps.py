"""Where the cost of FIFOs changes, for widths of real designs."""

import pytest

from compiler.analysis.memory_steps import free_depth, is_free, next_smaller
from compiler.platforms.platform import load_platform

MEMORIES = load_platform("u55c").memories


def test_a_shift_register_of_1024_bits_costs_the_same_at_every_depth():
    assert free_depth(32, 2, MEMORIES) == 32
    assert next_smaller(32, 32, MEMORIES) is None
    assert is_free(32, 13, MEMORIES)
    assert not is_free(32, 33, MEMORIES)


@pytest.mark.parametrize(("width", "depth", "smaller"), [(512, 17, 16), (64, 129, 128), (32, 1024, 512)])
def test_the_step_below_is_the_memory_before(width: int, depth: int, smaller: int):
    assert next_smaller(width, depth, MEMORIES) == smaller
    assert free_depth(width, smaller, MEMORIES) == smaller


def test_block_ram_goes_in_its_own_steps():
    assert free_depth(36, 600, MEMORIES) == 1024
    assert next_smaller(36, 1024, MEMORIES) == 512
