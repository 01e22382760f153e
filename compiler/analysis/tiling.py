"""Level 1 of the design space: tile sizes, unroll factors and loop order of every operation (paper "Linalg tiling
space").

The paper's heuristics are the starting points: one default tile size, unrolling that always goes to the slowest
operation through a max-heap until the overall target is reached, reductions outermost inside a tile. `TaskOverride`s
replace each.
"""

import heapq
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt, prod
from typing import NamedTuple

from compiler.analysis.inner_order import inner_orders
from compiler.analysis.loop_order import Order, loop_orders
from compiler.analysis.operators import run_cycles
from compiler.analysis.padding import MAX_GRANULE
from compiler.analysis.vectorise import vectorise
from compiler.errors import InvalidInputError
from compiler.graph.engine import Role, Service, layout, roles, service_of, unroll_by_role
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
from compiler.options import Knobs
from compiler.platforms.platform import Platform


@lru_cache(maxsize=4096)
def tile_extent(extent: int, limit: int) -> int:
    """The divisor of `extent`, at most `limit`, that tiles it best: long, and with many powers of two for the lanes to
    grow by (8 rather than 13 of 104). O(limit).
    """
    fitting = [d for d in range(1, min(extent, max(limit, 1)) + 1) if extent % d == 0]
    return max(fitting, key=lambda d: (d * min(d & -d, MAX_GRANULE), d))


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """In ascending order. O(square root)."""
    low = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return tuple(sorted({*low, *(number // d for d in low)}))


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


class _Growth:
    """Steps of one operation from one lane on: unroll factors, points side by side, and the cycles that it takes with
    them (the paper's heap counts iterations only), which are counted for steps that somebody comes to.
    """

    def __init__(self, op: LinalgOp, walk: _Walk, factors: Sequence[tuple[int, ...]], platform: Platform) -> None:
        self.factors = factors
        self.lanes = [prod(factor) for factor in factors]
        self._op, self._walk, self._platform = op, walk, platform
        self._cycles = dict[int, int]()

    def cycles(self, step: int) -> int:
        """Of the whole operation."""
        found = self._cycles.get(step)
        if found is None:
            nest = _nest(self._op.loops, self._walk, self.factors[step])
            found = self._cycles[step] = run_cycles(self._op, nest, self._platform)
        return found


Limits = tuple[tuple[tuple[int, ...], int], ...]  # elements that a token over these dimensions may have


@lru_cache(maxsize=16384)
def _growth(op: LinalgOp, walk: _Walk, limits: Limits, platform: Platform) -> _Growth:
    """The path is the operation's own, the heap only says how far it goes."""
    order, factor = _growth_order(op), [1] * len(op.loops)
    factors = [tuple(factor)]
    while _grow(op, walk.tile, limits, order, factor):
        factors.append(tuple(factor))
    return _Growth(op, walk, factors, platform)


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


class _Bits(NamedTuple):
    """Most bits of a token: of any, and of the weights of a contraction, which come straight from their HBM ports."""

    any: int
    weights: int

    @staticmethod
    def of(knobs: Knobs, platform: Platform) -> "_Bits":
        return _Bits(knobs.stream_width, max(knobs.stream_width, platform.hbm.port_bits * knobs.hbm_channels))


def _limits(graph: LinalgGraph, op: LinalgOp, bits: _Bits) -> Limits:
    """Tokens never get wider than the knobs allow."""
    values = [(operand.dims, graph.value[operand.value]) for operand in (*op.inputs, *op.outputs) if operand.dims]
    return tuple(
        (dims, (bits.weights if op.is_contraction and value.role == "param" else bits.any) // DTYPE_BITS[value.dtype])
        for dims, value in values
    )


class _Part(NamedTuple):
    """An operation that is to grow, with the way that it walks and the limits of its tokens."""

    op: LinalgOp
    walk: _Walk
    limits: Limits


@lru_cache(maxsize=16384)  # of an operation, few of the knobs matter
def _part(same: Same[LinalgGraph], name: str, tile: int, outer: Order, bits: _Bits) -> _Part:
    graph = same.value
    op = graph.op[name]
    walk = _Walk(tile_sizes(op, tile, _chunked_dims(graph, op)), outer, inner_orders(graph)[name])
    return _Part(op, walk, _limits(graph, op, bits))


@lru_cache(maxsize=4096)
def _joint_growth(parts: tuple[_Part, ...], platform: Platform) -> tuple[_Growth, ...]:
    """Steps of operations that take turns: all have as many lanes of each role, which count once. The role that has the
    fewest grows first, as loops of a contraction do.
    """
    first = parts[0].op
    of = roles(first)
    order = list(dict.fromkeys(of[d] for d in _growth_order(first)))
    lanes = dict.fromkeys(order, 1)
    steps = [tuple(tuple(1 for _ in part.op.loops) for part in parts)]
    while (step := _joint_step(parts, order, lanes)) is not None:
        steps.append(step)
    return tuple(
        _Growth(part.op, part.walk, factors, platform)
        for part, factors in zip(parts, zip(*steps, strict=True), strict=True)
    )


def _joint_step(
    parts: Sequence[_Part], order: Sequence[Role], lanes: dict[Role, int]
) -> tuple[tuple[int, ...], ...] | None:
    """Raise the lanes of one role to the next number that every operation can have; None where there is none."""
    first = parts[0]
    of = roles(first.op)
    for role in sorted(order, key=lambda role: lanes[role]):
        old, most = lanes[role], prod(first.walk.tile[d] for d, r in enumerate(of) if r == role)
        for new in (old * factor for factor in divisors(most // old)[1:]):  # what does not divide the tiles is refused
            unrolls = [unroll_by_role(part.op, part.walk.tile, {**lanes, role: new}) for part in parts]
            step = tuple(unroll for unroll in unrolls if unroll is not None)
            if len(step) == len(parts) and _is_one_engine(parts, step):
                lanes[role] = new
                return step
    return None


def _is_one_engine(parts: Sequence[_Part], unrolls: Sequence[tuple[int, ...]]) -> bool:
    """Whether tokens of all operations have one layout, and none is too wide."""
    first = layout(parts[0].op, unrolls[0])
    return all(
        layout(part.op, unroll) == first and all(prod(unroll[d] for d in dims) <= most for dims, most in part.limits)
        for part, unroll in zip(parts, unrolls, strict=True)
    )


class _Unroll:
    """How far operations have grown that share their lanes: one, or those of an engine."""

    def __init__(self, parts: tuple[_Part, ...], platform: Platform):
        self._parts, self._at = parts, 0
        first, *others = parts
        self._growths = _joint_growth(parts, platform) if others else (_growth(*first, platform),)

    @property
    def lanes(self) -> int:
        return self._growths[0].lanes[self._at]

    @property
    def cycles(self) -> int:
        return sum([growth.cycles(self._at) for growth in self._growths])

    @property
    def nests(self) -> dict[str, Nest]:
        """Of each operation."""
        return {
            part.op.name: _kept_nest(part.op.loops, part.walk, growth.factors[self._at])
            for part, growth in zip(self._parts, self._growths, strict=True)
        }

    def grow(self) -> bool:
        """One step further; False at the end."""
        if self._at + 1 == len(self._growths[0].lanes):
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
    heap: list[tuple[float, str]] = []
    unrolls: dict[str, _Unroll] = {}
    total = 0
    for parts in _sharing(graph, knobs, platform):
        unrolls[parts[0].op.name] = unroll = _Unroll(parts, platform)
        lanes = knobs.override(parts[0].op.name).unroll
        if lanes is not None:
            while unroll.lanes < lanes and unroll.grow():
                pass
        else:
            heapq.heappush(heap, (-unroll.cycles, parts[0].op.name))
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
    nests = {name: nest for unroll in unrolls.values() for name, nest in unroll.nests.items()}
    for op in graph.ops:
        if op.kind != "generic":
            nests[op.name] = _routing_nest(graph, op, nests)
    return vectorise(graph, nests, knobs, platform)


def _sharing(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> list[tuple[_Part, ...]]:
    """Operations that compute: those of one engine together, the one with most points first, the others alone."""
    orders, bits = loop_orders(graph, knobs), _Bits.of(knobs, platform)
    groups: dict[Service | str, list[_Part]] = {}
    for op in graph.ops:
        if op.kind != "generic":
            continue
        tile = knobs.override(op.name).tile or knobs.default_tile_size
        part = _part(Same(graph), op.name, tile, orders[op.name], bits)
        service = service_of(op) if knobs.engines == "shared" else None
        groups.setdefault(service or op.name, []).append(part)
    return [tuple(sorted(group, key=lambda part: -part.op.iterations)) for group in groups.values()]


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
