"""Fold: order of the loops inside a tile, so that a producer writes as its consumer reads and no buffer is between.

Inside a tile the order of parallel loops is free: they are independent, and the partial results of a reduction lie in a
memory that may be read in any order. A reduction wants its reduced dimensions outermost in the tile (short initiation
interval). So whoever makes its input walks these dimensions outermost as well, and whoever made that input, as long as
tokens pass one by one; what nobody reduces keeps the order in which it arrives. Where both ends agree the stream is
one, and the converter with its memory is gone (paper, "Iterative tensor folding": the same access on both sides).

A contraction reads each token again and again and needs its converter anyway, so it asks for nothing. What its readers
reduce, as the groups of a quantised sum or the keys of a softmax, it walks outside of what it reduces itself, where
enough is left inside for a short initiation interval: it keeps partial results of one group and not of all. Then it
holds a weight while it goes through the rows, so that weights come from memory once. Windows ask for their lines, one
after the other.

Products that have nothing to do with one another, as the heads of an attention, come one after the other, where the
rest is enough for a short initiation interval: what is behind starts with the first of them.
"""

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.same import Same

Order = tuple[int, ...]

IN_TURN = 12  # float sums of so many points, one after the other, wait for no addition
SIDE_BY_SIDE = 64  # so many are enough in turn where lanes lie along them


class _Wanted(NamedTuple):
    """Dimensions of a value as consumers want them: those that they reduce outside, then the others."""

    reduced: Order
    others: Order


def inner_orders(graph: LinalgGraph) -> Mapping[str, Order]:
    """Loops of each operation inside its tile, outermost first. O(operations x loops), once for a graph."""
    return _inner_orders(Same(graph))


@lru_cache(maxsize=256)
def _inner_orders(same: Same[LinalgGraph]) -> Mapping[str, Order]:
    graph = same.value
    wanted = _wanted(graph)
    apart = _apart(graph, wanted)
    arriving: dict[str, Order] = {}
    orders: dict[str, Order] = {}
    for op in graph.ops:
        order = _order(op, wanted.get(op.outputs[0].value), _arrives(graph, op, arriving))
        outermost = range(len(op.loops)) if op.kind == "window" else apart.get(op.name, ())
        orders[op.name] = order = tuple(dict.fromkeys((*outermost, *order)))
        for out in op.outputs:
            arriving[out.value] = positions(order, out)
    return orders


def told_apart(graph: LinalgGraph) -> Set[str]:
    """Products, of several that have nothing to do with one another, as the heads of an attention, that come one after
    the other.
    """
    return _told_apart(Same(graph))


@lru_cache(maxsize=256)
def _told_apart(same: Same[LinalgGraph]) -> Set[str]:
    graph = same.value
    return {name for name, dims in _apart(graph, _wanted(graph)).items() if dims and graph.op[name].is_contraction}


def positions(order: Sequence[int], operand: Operand) -> Order:
    """Dimensions of an operand in the order in which loops in `order` walk them."""
    return tuple(operand.dims.index(d) for d in order if d in operand.dims)


def _wanted(graph: LinalgGraph) -> dict[str, _Wanted]:
    """In which order the consumers of a value want its dimensions; absent where none cares."""
    wanted: dict[str, _Wanted] = {}
    for op in reversed(graph.ops):
        if op.kind == "window":
            wanted[op.inputs[0].value] = _Wanted((), positions(range(len(op.loops)), op.inputs[0]))
        if op.kind != "generic" or op.is_contraction:
            continue
        out = op.outputs[0]
        own = wanted.get(out.value)
        if op.reduction is None and own is None:
            continue
        reduced, others = ((), ()) if own is None else (loops_of(out, own.reduced), loops_of(out, own.others))
        if op.reduction is not None:
            reduced, others = reductions(op), (*reduced, *others)
        for operand in op.inputs:
            if len(operand.dims) == len(op.loops):
                wanted[operand.value] = _Wanted(positions(reduced, operand), positions(others, operand))
    return wanted


def _apart(graph: LinalgGraph, wanted: Mapping[str, _Wanted]) -> dict[str, Order]:
    """By operation, loops over products that have nothing to do with one another: every operand of the product has
    them, and so has what passes its results on. Where that has too few points without them, neither it nor what is
    behind it is told apart.
    """
    shared: dict[str, Order] = {}
    found: dict[str, Order] = {}
    mixed = set[str]()
    for op in graph.ops:
        out = op.outputs[0]
        dims = _shared(op) if op.is_contraction else _arrives(graph, op, shared)
        reduced = loops_of(out, wanted[out.value].reduced) if out.value in wanted else ()
        few = bool(dims) and _points(op, (*dims, *reduced)) < SIDE_BY_SIDE
        if few or any(operand.value in mixed for operand in op.inputs):
            mixed.add(out.value)
        elif op.kind == "generic" and all(d in out.dims for d in dims):
            found[op.name] = dims
            shared[out.value] = positions(dims, out)
    return found


def _shared(op: LinalgOp) -> Order:
    return tuple(d for d in range(len(op.loops)) if all(d in o.dims for o in (*op.inputs, *op.outputs)))


def loops_of(operand: Operand, dimensions: Sequence[int]) -> Order:
    """The loops that walk dimensions of an operand."""
    return tuple(operand.dims[i] for i in dimensions)


def _is_window(graph: LinalgGraph, operand: Operand) -> bool:
    return operand.value in graph.producer and graph.producer[operand.value][0].kind == "window"


def reductions(op: LinalgOp) -> Order:
    """The loops that it sums, or reduces otherwise, over."""
    return tuple(d for d, kind in enumerate(op.iterators) if kind == "reduction")


def _arrives(graph: LinalgGraph, op: LinalgOp, arriving: Mapping[str, Order]) -> Order:
    """Loops as the widest input arrives; of a contraction those of its weights, for which all else comes again, but
    windows, which are larger than that.
    """
    if op.is_contraction:
        if any(_is_window(graph, o) for o in op.inputs):
            return ()
        return tuple(d for o in op.inputs if graph.value[o.value].role == "param" for d in o.dims)
    widest = graph.widest_input(op, arriving)
    return () if widest is None else loops_of(widest, arriving[widest.value])


def _order(op: LinalgOp, wanted: _Wanted | None, arrives: Order) -> Order:
    """What consumers of the result reduce, where enough is left inside, then what the operation itself does, the others
    as consumers want them, or else as they arrive.
    """
    out, own = op.outputs[0], reductions(op)
    reduced, others = ((), ()) if wanted is None else (loops_of(out, wanted.reduced), loops_of(out, wanted.others))
    first = (*reduced, *own) if _points(op, reduced) >= IN_TURN else (*own, *reduced)
    return tuple(dict.fromkeys((*first, *others, *arrives, *range(len(op.loops)))))


def _points(op: LinalgOp, without: Order) -> int:
    """Of the result, without some loops."""
    return prod(op.loops[d] for d in op.outputs[0].dims if d not in without)
