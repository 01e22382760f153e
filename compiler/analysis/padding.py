"""Padded dimensions: a dimension that no tile size divides is made a little longer, so that it can be tiled.

A tile and the lanes inside it divide their loop. A prime loop has no divisors, and one of 38 = 2 x 19 has none near a
tile of 16: such a loop would run point by point. Dimensions that loops walk together are one class and are padded
alike, so that every stream still fits. What padding costs shows in the loops: more iterations, longer memory images,
and a comparison and a selection a lane where a reduction has to skip what lies behind the true extent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from compiler.analysis.choice import choice_loops
from compiler.analysis.walked_together import Classes, Place, walked_together
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Value, adds_nothing
from compiler.graph.same import Same
from compiler.options import Knobs

WHOLE = 16  # loops up to this extent are tiled whole, whatever their divisors: their cost is that of one tile
MAX_GRANULE = 16  # lanes that one loop is asked to offer; wider tokens come from several loops
WORD = 16  # numbers of 32 bits in a word of memory: a load that stops where a launch says so stops behind whole words
MAX_STEP = 7  # largest prime by which lanes may have to grow at once


def pad(graph: LinalgGraph, knobs: Knobs) -> LinalgGraph:
    """`graph` with the dimensions padded that `knobs` can not tile; the same object where there are none.

    Plans on true extents, so that padding twice is padding once. O(operations x loops); the result for the same graph,
    tile size and limit is kept. Overrides of single operations do not count: their tiles divide the padded loops as
    well as they can.
    """
    return _pad(Same(graph), knobs.default_tile_size, knobs.max_padding)


def padded_extent(extent: int, reach: int, max_padding: int, least: int = 1) -> int:
    """What a loop of `extent` points is padded to where tiles of up to `reach` points are wanted.

    Itself, where it is small or offers enough lanes. Else the next multiple of the largest power of two, up to half the
    tile or `least`, that wastes at most `max_padding` percent of the points.
    """
    granule = max(least, _granule(extent, reach))
    if extent <= min(reach, WHOLE) or (extent % least == 0 and widest_lanes(extent, granule, reach) >= granule):
        return extent
    while granule > 1:
        padded = -(-extent // granule) * granule
        if 100 * (padded - extent) <= max_padding * padded:
            return padded
        granule //= 2
    return extent


@lru_cache(maxsize=4096)
def widest_lanes(extent: int, enough: int, limit: int) -> int:
    """The largest divisor of `extent` up to `limit` that lanes reach in steps of `MAX_STEP` at most; the search ends
    below `enough` with 1.
    """
    return next((d for d in range(min(extent, limit), enough - 1, -1) if extent % d == 0 and is_smooth(d)), 1)


@lru_cache(maxsize=4096)
def is_smooth(number: int) -> bool:
    """Whether no prime factor is larger than `MAX_STEP`."""
    for step in range(2, MAX_STEP + 1):
        while number % step == 0:
            number //= step
    return number == 1


def _granule(extent: int, reach: int) -> int:
    """Lanes that a loop of `extent` points should offer: half of the power of two that a tile of it holds."""
    return min(MAX_GRANULE, (1 << (min(reach, extent).bit_length() - 1)) // 2)


def _tile_of_choice(tile: int) -> int:
    """What a vocabulary should have a whole number of: it is long, so that a few tiles more are little, and its product
    has as many partial results as a tile has points, of which several keep its sums at an interval of one cycle,
    however many lie side by side.
    """
    return max(WORD, 4 << (tile.bit_length() - 1))


@lru_cache(maxsize=256)
def _pad(same: Same[LinalgGraph], tile: int, max_padding: int) -> LinalgGraph:
    graph = same.value
    classes = walked_together(graph)
    frozen = {classes.find(place) for place in _fixed(graph)}
    longer: dict[Place, int] = {}
    chosen = {classes.find(("loop", name, dim)) for name, dim in choice_loops(graph).items()}
    for place, (extent, reach) in _tiled(graph, classes, tile).items():
        padded = padded_extent(extent, reach, max_padding, _tile_of_choice(tile) if place in chosen else 1)
        if place not in frozen and padded > extent:
            longer[place] = padded
    return _lengthened(graph, classes, longer) if longer else graph


def _fixed(graph: LinalgGraph) -> Iterator[Place]:
    """Loops that say which chunk it is, dimensions that a concat joins, windows, their taps and the lines that they are
    of: they have to end where they end.
    """
    for op in graph.ops:
        if op.axis is None:
            continue
        if op.kind == "chunk":
            yield "loop", op.name, op.axis
            continue
        if op.windows is not None:
            yield from (("loop", op.name, d) for d in (op.axis, op.windows.loop) if d is not None)
        for operand in op.inputs:
            if op.axis in operand.dims:
                yield "dim", operand.value, operand.dims.index(op.axis)


def _tiled(graph: LinalgGraph, classes: Classes, tile: int) -> dict[Place, tuple[int, int]]:
    """Extent of each class whose lanes some operation wants, and the longest tile that one would take of it."""
    found: dict[Place, tuple[int, int]] = {}
    for op in graph.ops:
        reaches = _reaches(op, tile)
        for dim, reach in enumerate(reaches):
            if op.kind == "generic" and _is_wanted(op, dim, reaches):
                place = classes.find(("loop", op.name, dim))
                _, before = found.get(place, (0, 1))
                found[place] = op.true_loops[dim], max(before, reach)
    return found


def _is_wanted(op: LinalgOp, dim: int, reaches: Sequence[int]) -> bool:
    """Whether the operation gains by a tile of loop `dim`: a product reuses the tensor that lacks this loop; any other
    operation only needs lanes, and has them where its other loops offer as many.
    """
    if op.is_contraction and any(dim not in operand.dims for operand in (*op.inputs, *op.outputs)):
        return True
    offered = (widest_lanes(n, 1, reaches[d]) for d, n in enumerate(op.true_loops) if d != dim)
    return prod(offered) < _granule(op.true_loops[dim], reaches[dim])


def _reaches(op: LinalgOp, tile: int) -> list[int]:
    """How much of a tile of `tile` points each loop could take; tiles of a loop group fill its inner loops first."""
    reaches = [1] * len(op.loops)
    for group in set(op.groups):
        rest = tile
        for dim in reversed([d for d, g in enumerate(op.groups) if g == group]):
            reaches[dim] = max(rest, 1)
            rest = rest // op.true_loops[dim] if op.true_loops[dim] <= rest else 1
    return reaches


def _lengthened(graph: LinalgGraph, classes: Classes, longer: dict[Place, int]) -> LinalgGraph:
    values = tuple(_longer_value(value, classes, longer) for value in graph.values)
    ops = tuple(_longer_op(op, classes, longer) for op in graph.ops)
    padded = replace(graph, values=values, ops=ops)
    return replace(padded, ops=tuple(_masked(padded, op) for op in ops))


def _longer_value(value: Value, classes: Classes, longer: dict[Place, int]) -> Value:
    shape = tuple(longer.get(classes.find(("dim", value.name, i)), n) for i, n in enumerate(value.shape))
    return value if shape == value.shape else replace(value, shape=shape, valid=value.true_shape)


def _longer_op(op: LinalgOp, classes: Classes, longer: dict[Place, int]) -> LinalgOp:
    loops = tuple(longer.get(classes.find(("loop", op.name, d)), n) for d, n in enumerate(op.loops))
    return op if loops == op.loops else replace(op, loops=loops, valid=op.true_loops)


def _masked(graph: LinalgGraph, op: LinalgOp) -> LinalgOp:
    """`op` with masks on the padded loops whose points would count."""
    padded = (d for d, it in enumerate(op.iterators) if it == "reduction" and op.loops[d] > op.true_loops[d])
    masked = tuple(d for d in padded if not adds_nothing(graph, op, d))
    return replace(op, masked=masked) if masked else op
