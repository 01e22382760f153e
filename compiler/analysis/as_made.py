"""Tokens as they are made: what passes on results of a product walks them in the order, and takes them in the blocks,
in which they come.

Lanes of a product lie along rows and columns; those of what follows it would lie along columns alone, and between the
two there would be memory for all rows of a tile. Given the block of rows and columns that is a token, an operation with
fewer lanes takes it piece by piece, one with more several of them at once, with as many lanes as it has: the converter
between holds a token.
"""

from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from math import gcd

from compiler.analysis.growth import Part, holds
from compiler.analysis.operators import run_cycles
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
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
    for name, (maker, dims) in _widest_inputs(Same(graph), frozenset(nests)).items():
        if name not in chosen:
            made[name] = _taken(parts[name], dims, made[maker], made[name], platform)
    return made


Dims = tuple[tuple[int, int], ...]
"""Pairs of loops: of what makes a value, and of what takes it."""


@lru_cache(maxsize=256)
def _widest_inputs(same: Same[LinalgGraph], computing: frozenset[str]) -> Mapping[str, tuple[str, Dims]]:
    """By operation that is no product, and has no loops beside those of its widest input, what makes that."""
    graph, found = same.value, dict[str, tuple[str, Dims]]()
    for op in graph.ops:
        if op.kind != "generic" or op.is_contraction:
            continue
        made = {
            o.value for o in op.inputs if o.value in graph.producer and graph.producer[o.value][0].name in computing
        }
        widest = graph.widest_input(op, made)
        if widest is not None and len(widest.dims) == len(op.loops):
            maker, index = graph.producer[widest.value]
            found[op.name] = maker.name, tuple(zip(maker.outputs[index].dims, widest.dims, strict=True))
    return found


@lru_cache(maxsize=65536)  # with one other knob most operations, and what they take, walk as they did
def _taken(part: Part, dims: Dims, source: Nest, own: Nest, platform: Platform) -> Nest:
    """The nest of an operation, or the one as its input arrives if that is as fast and its tokens are not too wide."""
    nest = _as_arriving(dims, source, own)
    if nest is None or not holds(part, nest.unroll):
        return own
    return nest if run_cycles(part.op, nest, platform) <= run_cycles(part.op, own, platform) else own


def _as_arriving(dims: Dims, source: Nest, own: Nest) -> Nest | None:
    """The nest with as many lanes that walks its input as it is made; None where it walks it in another order."""
    dim_of = dict(dims)
    loops = [loop._replace(dim=dim_of[loop.dim]) for loop in source.loops if loop.dim in dim_of]
    if _walk(loops, own.loops) != _walk(own.loops, loops):
        return None
    token = [1] * len(own.unroll)
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
