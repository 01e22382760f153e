"""Steps in the cost of FIFOs against a walk over every depth."""

from itertools import pairwise

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import free_depth, is_free, next_smaller, price
from compiler.platforms.platform import load_platform

MEMORIES = load_platform("u55c").memories

DEEPEST = 20_000  # beyond the steps of every memory at least twice

widths = st.one_of(st.integers(1, 80), st.sampled_from((128, 256, 288, 512, 1024, 2048)))


@given(widths, st.one_of(st.integers(MIN_DEPTH, 300), st.integers(MIN_DEPTH, 9000)))
@settings(max_examples=examples(150), deadline=None)
def test_steps_are_those_that_a_walk_finds(width: int, depth: int):
    same = next(d for d in range(depth, DEEPEST) if price(width, d + 1, MEMORIES) != price(width, depth, MEMORIES))
    cheaper = (
        d for d in range(depth - 1, MIN_DEPTH - 1, -1) if price(width, d, MEMORIES) < price(width, depth, MEMORIES)
    )
    assert free_depth(width, depth, MEMORIES) == same
    assert next_smaller(width, depth, MEMORIES) == next(cheaper, None)
    assert is_free(width, depth, MEMORIES) == (next_smaller(width, depth, MEMORIES) is None)


@given(widths)
@settings(max_examples=examples(20), deadline=None)
def test_deeper_never_costs_less(width: int):
    prices = [price(width, depth, MEMORIES) for depth in range(MIN_DEPTH, DEEPEST)]
    assert all(a <= b for a, b in pairwise(prices))
