"""Tokens as they are made: what passes on results of a product walks them in the order, and takes them in the blocks,
in which they come.

Lanes of a product lie along rows and columns; those of what follows it would lie along columns alone, and between the
two there would be memory for all rows of a tile. Given the block of rows and columns that is a token, an operation with
fewer lanes takes it piece by piece, one with more several of them at once, with as many lanes as it has: the converter
between holds a token.
"""

from collections.abc import Container, Mapping, Sequence
from math import gcd

from compiler.analysis.growth import Part, holds
from compiler.analysis.operators import run_cycles
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.platforms.platform import Platform


def as_made(
    graph: LinalgGraph,
    nests: Mapping[str, Nest],
    parts: Mapping[str, Part],
    chosen: Container[str],
    platform: Platform,
) -> dict[str, Nest]:
    """The nests of operations that compute; those of what is no product as the widest input is made, unless they are
    `chosen` otherwise, would take longer that way, or their tokens would be too wide. O(operations x loops).
    """
    made = dict(nests)
    for op in graph.ops:
        if op.kind != "generic" or op.is_contraction or op.name in chosen:
            continue
        nest = _as_arriving(graph, op, made)
        if nest is None or not holds(parts[op.name], nest.unroll):
            continue
        if run_cycles(op, nest, platform) <= run_cycles(op, made[op.name], platform):
            made[op.name] = nest
    return made


def _as_arriving(graph: LinalgGraph, op: LinalgOp, nests: Mapping[str, Nest]) -> Nest | None:
    """The nest with as many lanes that walks the widest input as it is made; None where the operation has other loops,
    or walks them in another order.
    """
    made = {o.value for o in op.inputs if o.value in graph.producer and graph.producer[o.value][0].name in nests}
    widest = graph.widest_input(op, made)
    if widest is None or len(widest.dims) < len(op.loops):
        return None
    producer, index = graph.producer[widest.value]
    source, own = nests[producer.name], nests[op.name]
    dim_of = dict(zip(producer.outputs[index].dims, widest.dims, strict=True))
    loops = [loop._replace(dim=dim_of[loop.dim]) for loop in source.loops if loop.dim in dim_of]
    if _walk(loops, own.loops) != _walk(own.loops, loops):
        return None
    token = [1] * len(op.loops)
    for theirs, dim in dim_of.items():
        token[dim] = source.unroll[theirs]
    return _walked(loops, token, own.lanes)


def _walk(loops: Sequence[NestLoop], others: Sequence[NestLoop]) -> list[int]:
    """Dimensions of loops, outermost first, that other loops walk as well."""
    there = {loop.dim for loop in others}
    return [loop.dim for loop in loops if loop.dim in there]


def _walked(loops: Sequence[NestLoop], token: Sequence[int], lanes: int) -> Nest | None:
    """The nest with so many lanes that takes tokens as the loops bring them: in pieces, columns first, or several that
    come one behind the other; None where that does not divide.
    """
    unroll, left = [1] * len(token), lanes
    for dim in reversed(range(len(token))):
        unroll[dim] = gcd(left, token[dim])
        left //= unroll[dim]
    pieces = [NestLoop(d, n // unroll[d], unroll[d]) for d, n in enumerate(token) if n > unroll[d]]
    outside = list(loops)
    while left > 1 and not pieces and outside:
        dim, trip, step = outside.pop()
        several = gcd(left, trip)
        if step != unroll[dim] or several == 1:
            return None
        unroll[dim] *= several
        left //= several
        if trip > several:
            outside.append(NestLoop(dim, trip // several, step * several))
    return Nest((*outside, *pieces), tuple(unroll)) if left == 1 else None
