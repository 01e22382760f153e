"""Level 1 of the design space: tile sizes, unroll factors and loop order of every operation (paper "Linalg tiling
space").

The paper's heuristics are the starting points: one default tile size, unrolling that always goes to the slowest
operation through a max-heap until the overall target is reached, reductions outermost inside a tile. `TaskOverride`s
replace each.
"""

import heapq
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.inner_order import inner_orders
from compiler.analysis.loop_order import Order, loop_orders
from compiler.analysis.operators import run_cycles
from compiler.analysis.padding import MAX_GRANULE
from compiler.analysis.vectorise import vectorise
from compiler.errors import InvalidInputError
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.nest import Nest, NestLoop
from compiler.options import Knobs
from compiler.platforms.platform import Platform


@lru_cache(maxsize=4096)
def tile_extent(extent: int, limit: int) -> int:
    """The divisor of `extent`, at most `limit`, that tiles it best: long, and with many powers of two for the lanes to
    grow by (8 rather than 13 of 104). O(limit).
    """
    divisors = [d for d in range(1, min(extent, max(limit, 1)) + 1) if extent % d == 0]
    return max(divisors, key=lambda d: (d * min(d & -d, MAX_GRANULE), d))


def _chunked_dims(graph: LinalgGraph, op: LinalgOp) -> frozenset[int]:
    """Loops along which a consumer chunks the output: they advance by single steps, so that tokens can be routed."""
    return frozenset(
        op.outputs[0].dims[reader.inputs[0].dims.index(reader.axis)]
        for reader, _ in graph.consumers[op.outputs[0].value]
        if reader.kind == "chunk" and reader.axis is not None
    )


def tile_sizes(op: LinalgOp, tile: int, chunked: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Tile extent of each loop so that a loop group's tile has about `tile` points, inner loops filled first.

    A loop whose true extent fits is taken whole, padding and all.
    """
    sizes = list(op.loops)
    for group in set(op.groups):
        rest, full = tile, True
        for dim in reversed([d for d, g in enumerate(op.groups) if g == group]):
            extent = op.loops[dim]
            full = full and dim not in chunked
            if full and op.true_loops[dim] > rest:
                sizes[dim], full = tile_extent(extent, rest), False
            elif not full:
                sizes[dim] = 1
            rest //= sizes[dim]
    return tuple(sizes)


class _Walk(NamedTuple):
    """In which order an operation walks its tiles, and the points of one."""

    tile: tuple[int, ...]
    outer: Order
    inner: Order


class _Growth(NamedTuple):
    """Steps of one operation from one lane on: unroll factors, points side by side, and the cycles that it takes with
    them (the paper's heap counts iterations only).
    """

    factors: tuple[tuple[int, ...], ...]
    lanes: tuple[int, ...]
    cycles: tuple[int, ...]


Limits = tuple[tuple[tuple[int, ...], int], ...]  # elements that a token over these dimensions may have


@lru_cache(maxsize=16384)
def _growth(op: LinalgOp, walk: _Walk, limits: Limits, platform: Platform) -> _Growth:
    """The path is the operation's own, the heap only says how far it goes."""
    order, factor = _growth_order(op), [1] * len(op.loops)
    factors = [tuple(factor)]
    while _grow(op, walk.tile, limits, order, factor):
        factors.append(tuple(factor))
    lanes = tuple(prod(factor) for factor in factors)
    return _Growth(tuple(factors), lanes, tuple(_cycles(op, walk, factor, platform) for factor in factors))


def _cycles(op: LinalgOp, walk: _Walk, factor: tuple[int, ...], platform: Platform) -> int:
    return run_cycles(op, _nest(op.loops, walk, factor), platform)


def _grow(op: LinalgOp, tile: tuple[int, ...], limits: Limits, order: Sequence[int], factor: list[int]) -> bool:
    """Raise one dimension's factor to the next divisor of its tile; False when every one is at its limit.

    Contractions grow the smallest factor first, so that weights stream as blocks; other operations grow their innermost
    dimension, so that tokens stay vectors of neighbours.
    """
    for dim in sorted(order, key=lambda d: factor[d]) if op.is_contraction else order:
        old = factor[dim]
        new = next((n for n in range(old * 2, tile[dim] + 1, old) if tile[dim] % n == 0), old)
        factor[dim] = new
        if new > old and all(prod(factor[d] for d in dims) <= limit for dims, limit in limits):
            return True
        factor[dim] = old
    return False


class _Unroll:
    """How far one operation has grown. Tokens never get wider than the knobs allow."""

    def __init__(self, graph: LinalgGraph, op: LinalgOp, walk: _Walk, knobs: Knobs, platform: Platform):
        limits = (
            (
                operand.dims,
                _token_limit(graph, op, operand, knobs, platform) // DTYPE_BITS[graph.value[operand.value].dtype],
            )
            for operand in (*op.inputs, *op.outputs)
            if operand.dims
        )
        self._op, self._walk, self._at = op, walk, 0
        self._growth = _growth(op, walk, tuple(limits), platform)

    @property
    def lanes(self) -> int:
        return self._growth.lanes[self._at]

    @property
    def cycles(self) -> int:
        return self._growth.cycles[self._at]

    @property
    def nest(self) -> Nest:
        return _kept_nest(self._op.loops, self._walk, self._growth.factors[self._at])

    def grow(self) -> bool:
        """One step further; False at the end."""
        if self._at + 1 == len(self._growth.lanes):
            return False
        self._at += 1
        return True


def _nest(loops: tuple[int, ...], walk: _Walk, factor: tuple[int, ...]) -> Nest:
    """Tile loops in the outer order, then the loops inside a tile in the inner one."""
    tile = walk.tile
    outer = (NestLoop(d, loops[d] // tile[d], tile[d]) for d in walk.outer)
    inside = (NestLoop(d, tile[d] // factor[d], factor[d]) for d in walk.inner)
    return Nest(tuple(loop for loop in (*outer, *inside) if loop.trip > 1), factor)


_kept_nest = lru_cache(maxsize=16384)(_nest)  # the steps that the heap only passes are not kept


def _token_limit(graph: LinalgGraph, op: LinalgOp, operand: Operand, knobs: Knobs, platform: Platform) -> int:
    """Bits that one token of the operand may have: weights of a contraction come straight from their HBM ports."""
    if op.is_contraction and graph.value[operand.value].role == "param":
        return max(knobs.stream_width, platform.hbm.port_bits * knobs.hbm_channels)
    return knobs.stream_width


def _growth_order(op: LinalgOp) -> list[int]:
    dims = list(range(len(op.loops) - 1, -1, -1))
    if not op.is_contraction:
        return dims
    # Dimensions that every operand lacks somewhere are reuse; the ones a weight has bring bandwidth: those first.
    shared = {d for d in dims if all(d in operand.dims for operand in (*op.inputs, *op.outputs) if operand.dims)}
    return [d for d in dims if d not in shared] + [d for d in dims if d in shared]


def plan_nests(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> dict[str, Nest]:
    """The nest of every operation. O(operations x log(unroll)) heap steps.

    `chunk` and `concat` only route tokens: they take the token shape that arrives. Raises InvalidInputError where an
    override names no operation that computes.
    """
    for override in knobs.overrides:
        if override.op not in graph.op or graph.op[override.op].kind != "generic":
            known = ", ".join(op.name for op in graph.ops if op.kind == "generic")
            raise InvalidInputError(f"there is no operation {override.op!r} to override; known are {known}")
    orders, inner = loop_orders(graph, knobs), inner_orders(graph)
    unrolls: dict[str, _Unroll] = {}
    heap: list[tuple[float, str]] = []
    total = 0
    for op in graph.ops:
        if op.kind != "generic":
            continue
        override = knobs.override(op.name)
        tile = tile_sizes(op, override.tile or knobs.default_tile_size, _chunked_dims(graph, op))
        unroll = _Unroll(graph, op, _Walk(tile, orders[op.name], inner[op.name]), knobs, platform)
        unrolls[op.name] = unroll
        if override.unroll is not None:
            while unroll.lanes < override.unroll and unroll.grow():
                pass
        else:
            heapq.heappush(heap, (-unroll.cycles, op.name))
        total += unroll.lanes
    while heap and total < knobs.overall_unroll:
        _, name = heap[0]
        unroll = unrolls[name]
        before = unroll.lanes
        if unroll.grow():
            total += unroll.lanes - before
            heapq.heapreplace(heap, (-unroll.cycles, name))
        else:
            heapq.heappop(heap)
    nests = {name: unroll.nest for name, unroll in unrolls.items()}
    for op in graph.ops:
        if op.kind != "generic":
            nests[op.name] = _routing_nest(graph, op, nests)
    return vectorise(graph, nests, knobs, platform)


def _routing_nest(graph: LinalgGraph, op: LinalgOp, nests: dict[str, Nest]) -> Nest:
    """Nest of a chunk or concat: walks its tensor in the order (chunk) or with the tokens (concat) that arrive."""
    unroll = [1] * len(op.loops)
    for operand in op.inputs:
        if operand.value not in graph.producer:
            continue
        producer, index = graph.producer[operand.value]
        source = nests[producer.name]
        written = producer.outputs[index].dims
        for dim, made in zip(operand.dims, written, strict=True):
            unroll[dim] = source.unroll[made]
        if op.kind == "chunk":
            loops = tuple(
                NestLoop(operand.dims[written.index(k.dim)], k.trip, k.step) for k in source.loops if k.dim in written
            )
            return Nest(loops, tuple(unroll))
    assert op.axis is not None
    unroll[op.axis] = 1
    return Nest(
        tuple(NestLoop(d, n // unroll[d], unroll[d]) for d, n in enumerate(op.loops) if n > unroll[d]), tuple(unroll)
    )
