"""Level 1 of the design space: tile sizes, unroll factors and loop order of every operation (paper "Linalg tiling
space").

The paper's heuristics are the starting points: one default tile size, unrolling that always goes to the slowest
operation until the overall target is reached (`compiler.analysis.lanes`), reductions outermost inside a tile.
`TaskOverride`s replace each. What follows a product walks its tokens as they are made (`compiler.analysis.as_made`).
"""

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.as_made import as_made
from compiler.analysis.caches import appends_to_cache, wide_lanes
from compiler.analysis.choice import choice_loops
from compiler.analysis.even_intervals import with_even_intervals
from compiler.analysis.growth import Part, Token, Unroll, Walk, divisors, nest_of
from compiler.analysis.inner_order import IN_TURN, inner_orders
from compiler.analysis.lanes import deal_lanes
from compiler.analysis.loop_order import Order, added_up, loop_orders, parts_outside
from compiler.analysis.operators import sums_float_products
from compiler.analysis.padding import MAX_GRANULE
from compiler.analysis.row_parts import row_parts
from compiler.analysis.rows import row_loops
from compiler.analysis.vectorise import vectorise
from compiler.analysis.walked_together import walked_together
from compiler.errors import InvalidInputError
from compiler.graph.engine import Service, service_of
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
from compiler.options import SLOTS, Knobs, Multiplier
from compiler.platforms.platform import Platform

MAX_CHOICE_TILE = 4096  # each row of a prompt makes one, and leaves it
LUT_OF_BIT = 12  # of a token: a FIFO of two, and registers
LUT_OF_CONVERTED_BIT = 32  # a converter's banks as well, of which each lane chooses one (64 lanes of f32: 66,200)
LUT_OF_BANK_BIT = 2  # of a converter whose banks are known (1,024 of int8: 17,100; 17,408: 279,300)


@lru_cache(maxsize=4096)
def tile_extent(extent: int, limit: int) -> int:
    """The divisor of `extent`, at most `limit`, that tiles it best: long, and with many powers of two for the lanes to
    grow by (8 rather than 13 of 104). O(limit).
    """
    fitting = [d for d in range(1, min(extent, max(limit, 1)) + 1) if extent % d == 0]
    return max(fitting, key=lambda d: (d * min(d & -d, MAX_GRANULE), d))


def _chunked_dims(graph: LinalgGraph, op: LinalgOp) -> frozenset[int]:
    """Loops along which a consumer chunks the output: they advance by single steps, so that tokens can be routed."""
    return frozenset(
        op.outputs[0].dims[reader.inputs[0].dims.index(reader.axis)]
        for reader, _ in graph.consumers[op.outputs[0].value]
        if reader.kind == "chunk" and reader.axis is not None
    )


@lru_cache(maxsize=256)
def _lines(same: Same[LinalgGraph]) -> Mapping[str, frozenset[int]]:
    """By operation the loops over lines, which advance by single steps, so that no more than a few lines wait: what is
    walked outside of windows, along with what these are windows of.
    """
    graph, classes = same.value, walked_together(same.value)
    sliding = [op for op in graph.ops if op.kind == "window" and op.axis is not None]
    outside = {classes.find(("loop", op.name, d)) for op in sliding for d in range(op.axis or 0)}
    for op in reversed(sliding):
        read = op.inputs[0]
        if op.axis in read.dims and classes.find(("loop", op.name, op.axis)) in outside:
            outside.add(classes.find(("dim", read.value, read.dims.index(op.axis))))
    return {
        op.name: frozenset(d for d in range(len(op.loops)) if classes.find(("loop", op.name, d)) in outside)
        for op in graph.ops
    }


def tile_sizes(
    op: LinalgOp,
    tile: int,
    single: frozenset[int] = frozenset(),
    rows: int | None = None,
    choice: int | None = None,
) -> tuple[int, ...]:
    """Tile extent of each loop so that a loop group's tile has about `tile` points, inner loops filled first, that over
    a vocabulary of `choice` before them; one of those that advance by `single` steps, no more than `SLOTS` of that over
    `rows` that stay in memory: of those a launch walks the tiles that are begun.

    A loop whose true extent fits is taken whole, padding and all.
    """
    sizes = list(op.loops)
    for group in set(op.groups):
        rest, full = tile, True
        dims = [d for d, g in enumerate(op.groups) if g == group]
        for dim in sorted(dims, key=lambda d: (d != choice, -d)):
            extent, most = op.loops[dim], min(rest, SLOTS) if dim == rows else rest
            full = full and dim not in single
            if full and op.true_loops[dim] > most:
                sizes[dim], full = tile_extent(extent, most), False
            elif not full:
                sizes[dim] = 1
            rest //= sizes[dim]
    return tuple(sizes)


class _Bits(NamedTuple):
    """Most bits of a token: of any, and of the weights of a contraction, which come straight from their HBM ports."""

    any: int
    weights: int

    @staticmethod
    def of(knobs: Knobs, platform: Platform) -> "_Bits":
        return _Bits(knobs.stream_width, max(knobs.stream_width, platform.hbm.port_bits * knobs.hbm_channels))


def _tokens(graph: LinalgGraph, op: LinalgOp, bits: _Bits) -> tuple[Token, ...]:
    """Never wider than the knobs allow."""
    return tuple(_token(graph, op, operand, bits) for operand in (*op.inputs, *op.outputs) if operand.dims)


def _token(graph: LinalgGraph, op: LinalgOp, operand: Operand, bits: _Bits) -> Token:
    value = graph.value[operand.value]
    weights, size = op.is_contraction and value.role == "param", DTYPE_BITS[value.dtype]
    most = (bits.weights if weights else bits.any) // size
    if not op.is_contraction or weights:
        return Token(operand.dims, most, LUT_OF_BIT * size)
    maker = graph.producer[value.name][0] if value.name in graph.producer else None
    # Of floats, lanes along rows also shorten the chain of additions that a result waits for.
    known = operand in op.inputs and not sums_float_products(op)
    if known and maker is not None and appends_to_cache(graph, maker):
        come = tuple(wide_lanes(maker, size, bits.any))
        return Token(operand.dims, most, LUT_OF_BIT * size, come, LUT_OF_BANK_BIT * size)
    return Token(operand.dims, most, LUT_OF_CONVERTED_BIT * size)


@lru_cache(maxsize=16384)
def _part(
    same: Same[LinalgGraph], name: str, tile: int, outer: Order, with_parts: bool, bits: _Bits, multiplier: Multiplier
) -> Part:
    graph, in_parts = same.value, row_parts(same.value, bits.any)
    op, walk = graph.op[name], _walk(graph, name, tile, outer, with_parts)
    if (dim := in_parts.loops.get(name)) is not None:
        walk = walk.in_parts(dim, in_parts.step)
    return Part(op, walk, _tokens(graph, op, bits), multiplier, graph.runs_of(name))


def _walk(graph: LinalgGraph, name: str, tile: int, outer: Order, with_parts: bool) -> Walk:
    op = graph.op[name]
    outside = added_up(graph, op) if with_parts else ()
    single = _chunked_dims(graph, op) | _lines(Same(graph))[name] | set(outside)
    sizes = tile_sizes(op, tile, single, row_loops(graph).get(name), choice_loops(graph).get(name))
    return Walk(sizes, outer, inner_orders(graph)[name])


def check_overrides(graph: LinalgGraph, knobs: Knobs) -> None:
    """Raise InvalidInputError where an override names no operation that computes."""
    for override in knobs.overrides:
        if override.op not in graph.op or graph.op[override.op].kind != "generic":
            known = ", ".join(op.name for op in graph.ops if op.kind == "generic")
            raise InvalidInputError(f"there is no operation {override.op!r} to override; known are {known}")


def plan_nests(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> dict[str, Nest]:
    """The nest of every operation. O(operations x log(unroll)) steps of growth.

    `chunk` and `concat` only route tokens: they take the token shape that arrives; windows that in which they are read.
    Raises InvalidInputError as `check_overrides`.
    """
    check_overrides(graph, knobs)
    unrolls, fixed = dict[str, Unroll](), set[str]()
    for parts in sharing(graph, knobs, platform):
        name = parts[0].op.name
        unrolls[name] = unroll = Unroll(parts, platform)
        lanes = knobs.override(name).unroll
        if lanes is not None:
            fixed.add(name)
            while unroll.lanes < lanes and unroll.grow():
                pass
    deal_lanes(graph, unrolls, fixed, knobs, platform)
    nests = {name: nest for unroll in unrolls.values() for name, nest in unroll.nests.items()}
    parts = {part.op.name: part for unroll in unrolls.values() for part in unroll.parts}
    for unroll in unrolls.values():
        if len(unroll.parts) > 1:
            choosing = choice_loops(graph)
            others = [part for part in unroll.parts if part.op.name not in choosing]
            nests |= with_even_intervals(graph, others, nests, platform)
            for part in unroll.parts:
                if (dim := choosing.get(part.op.name)) is not None:
                    nests[part.op.name] = _summed_in_turn(part, nests[part.op.name], dim)
    nests = as_made(graph, nests, parts, set(knobs.walked_apart), platform)
    for op in reversed(graph.ops):
        if op.kind == "window":
            nests[op.name] = _window_nest(graph, op, nests)
    for op in graph.ops:
        if op.kind not in ("generic", "window"):
            nests[op.name] = _routing_nest(graph, op, nests)
    return vectorise(graph, nests, parts, knobs, platform)


def _summed_in_turn(part: Part, nest: Nest, dim: int) -> Nest:
    """The nest of an operation of the choice of a token, whose vocabulary, loop `dim`, stays outside of all else: in
    tiles of so many iterations that float sums over the same parts wait for no addition, or as near to that as can be
    with two of them.
    """
    op, usual, wanted = part.op, part.walk.tile[dim], nest.unroll[dim] * IN_TURN
    most = min(MAX_CHOICE_TILE, op.loops[dim] // 2)
    tiles = [usual * n for n in divisors(op.loops[dim] // usual) if usual * n <= most]
    tile = next((n for n in tiles if n >= wanted), max(tiles, default=usual))
    sizes = tuple(tile if d == dim else 1 if nest.unroll[d] == 1 else n for d, n in enumerate(part.walk.tile))
    outer = (dim, *(d for d in part.walk.outer if d != dim))
    return nest_of(op.loops, part.walk._replace(tile=sizes, outer=outer), nest.unroll)


def sharing(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> list[tuple[Part, ...]]:
    """Operations that compute: those of one engine together, the one with most points first, the others alone. What
    adds up parts of products takes turns as these do.
    """
    orders, bits, same = loop_orders(graph, knobs), _Bits.of(knobs, platform), Same(graph)
    groups: dict[Service | str, list[Part]] = {}
    with_parts = parts_outside(knobs)
    for op in graph.ops:
        if op.kind != "generic":
            continue
        tile = knobs.override(op.name).tile or knobs.default_tile_size
        part = _part(same, op.name, tile, orders[op.name], with_parts, bits, knobs.multiplier)
        service = service_of(op) if knobs.engines == "shared" and _takes_turns(graph, op) else None
        groups.setdefault(service or op.name, []).append(part)
    return [tuple(sorted(group, key=lambda part: -part.op.iterations)) for group in groups.values()]


def _takes_turns(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether it may share lanes with others (`share-engines`): a product, or what adds up parts of one."""
    of_product = any(source.is_contraction for source in graph.sources(op))
    return op.is_contraction or (op.name not in graph.in_front and of_product)


def _window_nest(graph: LinalgGraph, op: LinalgOp, nests: dict[str, Nest]) -> Nest:
    """Nest of windows: its loops as they are, one window after the other, in the tokens that the first reader takes."""
    unroll, made = [1] * len(op.loops), op.outputs[0]
    for reader, number in graph.consumers[made.value][:1]:
        if reader.name in nests:
            for dim, read in zip(made.dims, reader.inputs[number].dims, strict=True):
                unroll[dim] = nests[reader.name].unroll[read]
    assert op.axis is not None
    unroll[op.axis] = 1
    loops = (NestLoop(d, n // unroll[d], unroll[d]) for d, n in enumerate(op.loops))
    return Nest(tuple(loop for loop in loops if loop.trip > 1), tuple(unroll))


def _widest_read(graph: LinalgGraph, op: LinalgOp, nests: dict[str, Nest]) -> list[int]:
    """Lanes of a chunk of what comes from memory, by loop: as its widest reader has them."""
    widest = [1] * len(op.loops)
    for out in op.outputs:
        for reader, number in graph.consumers[out.value]:
            lanes = [1] * len(op.loops)
            for dim, read in zip(out.dims, reader.inputs[number].dims, strict=True):
                lanes[dim] = nests[reader.name].unroll[read]
            widest = max(widest, lanes, key=prod)
    return widest


def _routing_nest(graph: LinalgGraph, op: LinalgOp, nests: dict[str, Nest]) -> Nest:
    """Nest of a chunk or concat: walks its tensor in the order (chunk) or with the tokens (concat) that arrive."""
    unroll = [1] * len(op.loops)
    for operand in op.inputs:
        if operand.value not in graph.producer:
            if op.kind == "chunk":
                unroll = _widest_read(graph, op, nests)
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
