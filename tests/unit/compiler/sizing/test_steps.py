"""Where the cost of FIFOs changes, for widths of real designs."""

import pytest

from compiler.sizing.steps import free_depth, is_free, next_smaller


def test_a_shift_register_of_1024_bits_costs_the_same_at_every_depth():
    assert free_depth(32, 2) == 32
    assert next_smaller(32, 32) is None
    assert is_free(32, 13)
    assert not is_free(32, 33)


@pytest.mark.parametrize(("width", "depth", "smaller"), [(512, 17, 16), (64, 129, 128), (32, 1024, 512)])
def test_the_step_below_is_the_memory_before(width: int, depth: int, smaller: int):
    assert next_smaller(width, depth) == smaller
    assert free_depth(width, smaller) == smaller


def test_block_ram_goes_in_its_own_steps():
    assert free_depth(36, 600) == 1024
    assert next_smaller(36, 1024) == 512
