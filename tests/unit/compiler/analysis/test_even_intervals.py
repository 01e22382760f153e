"""Turns of an engine: none slows down the others where moving its loops helps, and results leave in the same order."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from plans import U55C
from small_graphs import chain

from compiler.analysis.even_intervals import with_even_intervals
from compiler.analysis.operators import initiation_interval
from compiler.analysis.tiling import sharing
from compiler.graph.nest import Nest, NestLoop
from compiler.options import Knobs

GRAPH = chain(8, 32, 64)
KNOBS = Knobs(default_tile_size=8, engines="shared")
((FIRST, SECOND),) = sharing(GRAPH, KNOBS, U55C)
ROWS, OUTPUTS, SUMMED = 0, 1, 2


@given(st.permutations([(d, k) for d in (ROWS, OUTPUTS, SUMMED) for k in range(2)]), st.integers(0, 2))
def test_results_leave_in_the_same_order_and_no_later_one_is_slower(loops: list[tuple[int, int]], outer: int) -> None:
    """Of any order of loops; those outside of the pipeline, and over rows, are where they were."""
    trips = {dim: FIRST.op.loops[dim] // 2 for dim in range(3)}
    ordered = sorted(loops, key=lambda loop: loop[1])
    nest = Nest(tuple(NestLoop(d, 2 if k else trips[d], 1 if k else 2) for d, k in ordered), (1, 1, 1), outer)
    nests = {FIRST.op.name: nest, SECOND.op.name: Nest((), SECOND.op.loops)}
    moved = with_even_intervals(GRAPH, (FIRST, SECOND), nests, U55C)[FIRST.op.name]
    made = FIRST.op.outputs[0].dims
    assert moved.write_itensor(made, "f32") == nest.write_itensor(made, "f32")
    assert sorted(moved.loops) == sorted(nest.loops)
    assert moved.loops[:outer] == nest.loops[:outer]
    assert interval(moved, moved) <= interval(nest, moved)
    if interval(moved, moved) > 1:  # nothing but rows, or what lies outside, surrounds the sums
        innermost = max(k for k, loop in enumerate(moved.loops) if loop.dim == SUMMED)
        around = [loop for loop in moved.loops[outer:innermost] if loop.dim != SUMMED]
        assert all(loop.dim == ROWS for loop in around[-1:])


def interval(nest: Nest, kept: Nest) -> int:
    vectors = kept.accumulators(FIRST.op.iterators)
    return initiation_interval(FIRST.op, nest, "fabric", U55C, vectors)


def test_what_is_fast_enough_stays() -> None:
    fast = Nest((NestLoop(SUMMED, 32, 1), NestLoop(OUTPUTS, 64, 1)), (4, 1, 1))
    op = replace(FIRST.op, loops=(4, 64, 32))
    part = replace(FIRST, op=op)
    assert with_even_intervals(GRAPH, (part,), {op.name: fast}, U55C) == {op.name: fast}
