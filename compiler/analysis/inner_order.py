"""Fold: order of the loops inside a tile, so that a producer writes as its consumer reads and no buffer is between.

Inside a tile the order of parallel loops is free: they are independent, and the partial results of a reduction lie in a
memory that may be read in any order. A reduction wants its reduced dimensions outermost in the tile (short initiation
interval). So whoever makes its input walks these dimensions outermost as well, and whoever made that input, as long as
tokens pass one by one; what nobody reduces keeps the order in which it arrives. Where both ends agree the stream is
one, and the converter with its memory is gone (paper, "Iterative tensor folding": the same access on both sides).

A contraction reads each token again and again and needs its converter anyway, so it asks for nothing. Windows ask for
their lines, one after the other.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.same import Same

Order = tuple[int, ...]


def inner_orders(graph: LinalgGraph) -> Mapping[str, Order]:
    """Loops of each operation inside its tile, outermost first. O(operations x loops), once for a graph."""
    return _inner_orders(Same(graph))


@lru_cache(maxsize=256)
def _inner_orders(same: Same[LinalgGraph]) -> Mapping[str, Order]:
    graph = same.value
    wanted = _wanted(graph)
    arriving: dict[str, Order] = {}
    orders: dict[str, Order] = {}
    for op in graph.ops:
        order = _order(op, wanted, arriving)
        orders[op.name] = order
        for out in op.outputs:
            arriving[out.value] = _positions(order, out)
    return orders


def _positions(order: Sequence[int], operand: Operand) -> Order:
    """Dimensions of an operand in the order in which loops in `order` walk them."""
    return tuple(operand.dims.index(d) for d in order if d in operand.dims)


def _wanted(graph: LinalgGraph) -> dict[str, Order]:
    """In which order the consumers of a value want its dimensions; absent where none cares."""
    wanted: dict[str, Order] = {}
    for op in reversed(graph.ops):
        if op.kind == "window":
            wanted[op.inputs[0].value] = _positions(range(len(op.loops)), op.inputs[0])
        if op.kind != "generic" or op.is_contraction:
            continue
        own = wanted.get(op.outputs[0].value)
        if op.reduction is None and own is None:
            continue
        order = _reductions_first(op, _loops(op.outputs[0], own) if own is not None else ())
        for operand in op.inputs:
            if len(operand.dims) == len(op.loops):
                wanted[operand.value] = _positions(order, operand)
    return wanted


def _loops(operand: Operand, positions: Sequence[int]) -> Order:
    return tuple(operand.dims[i] for i in positions)


def _reductions_first(op: LinalgOp, parallels: Sequence[int]) -> Order:
    """Reduction loops, then the others as in `parallels`, then what that leaves out."""
    reductions = [d for d, kind in enumerate(op.iterators) if kind == "reduction"]
    return tuple(dict.fromkeys((*reductions, *parallels, *range(len(op.loops)))))


def _order(op: LinalgOp, wanted: Mapping[str, Order], arriving: Mapping[str, Order]) -> Order:
    """As consumers of the result want it, or else as the widest input arrives; reductions first in any case."""
    out = op.outputs[0]
    if op.kind == "window":
        return tuple(range(len(op.loops)))
    if out.value in wanted:
        return _reductions_first(op, _loops(out, wanted[out.value]))
    known = [operand for operand in op.inputs if operand.value in arriving]
    widest = max(known, key=lambda operand: len(operand.dims), default=None)
    if widest is None or op.is_contraction:
        return _reductions_first(op, ())
    return _reductions_first(op, _loops(widest, arriving[widest.value]))
