"""Turns of an engine: all go through one pipeline, so the one that updates an accumulator soonest slows down all.

A turn whose reduction loops lie too far inside walks more results between two updates when these loops move outward,
over those that surround them. Its results leave in the same order; it keeps more partial ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler.analysis.growth import Part
from compiler.analysis.operators import initiation_interval
from compiler.graph.linalg_graph import Iterator, LinalgGraph
from compiler.graph.nest import Nest
from compiler.platforms.platform import Platform


def with_even_intervals(
    graph: LinalgGraph, parts: Sequence[Part], nests: Mapping[str, Nest], platform: Platform
) -> dict[str, Nest]:
    """The nests of operations that take turns, none of which has an interval that moving its loops could shorten.
    O(operations x loops^2).
    """
    found = {part.op.name: nests[part.op.name] for part in parts}
    kept = max(found[part.op.name].accumulators(part.op.iterators) for part in parts)
    left = list(parts)
    while left:
        part = left.pop()
        op, nest = part.op, found[part.op.name]
        if initiation_interval(op, nest, "fabric", platform, kept) == 1:  # of an adder in DSPs, as in `run_cycles`
            continue
        weights = {d for read in op.inputs if graph.value[read.value].role == "param" for d in read.dims}
        if (moved := _outward(nest, op.iterators, weights)) is None:
            continue
        found[op.name], left = moved, list(parts)
        kept = max(kept, moved.accumulators(op.iterators))
    return found


def _outward(nest: Nest, iterators: Sequence[Iterator], weights: set[int]) -> Nest | None:
    """With the innermost reduction loops outside of the loop that surrounds them, if that is one over weights."""
    reductions = nest.reduction_loops(iterators)
    if not reductions:
        return None
    last = first = reductions[-1]
    while first - 1 in reductions:
        first -= 1
    around = first - 1
    if around < nest.outer or nest.loops[around].dim not in weights:
        return None
    loops = list(nest.loops)
    loops.insert(last, loops.pop(around))
    return replace(nest, loops=tuple(loops))
