"""How cdb5aca laid lanes and loops, for `bench.accelerators`: the factor that is smallest grew first, a contraction
walked what it sums, then what nobody asked for as it is written, what followed took no blocks, no product took as it
comes what another one makes, and of several inputs the first one said the order.
"""

from collections.abc import Container, Mapping, Sequence

from compiler.analysis.growth import Part, holds
from compiler.analysis.inner_order import Order, loops_of, positions, reductions
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand
from compiler.graph.nest import Nest
from compiler.platforms.platform import Platform


def grow(
    part: Part,
    order: Sequence[int],
    factor: list[int],
    platform: Platform,  # noqa: ARG001 # as what it stands for
) -> bool:
    """Raise the smallest factor of a contraction, the innermost of others, to the next divisor of its tile."""
    tile, dims = part.walk.tile, sorted(order, reverse=True)  # innermost first, whatever it adds up
    for dim in sorted(order, key=lambda d: factor[d]) if part.op.is_contraction else dims:
        old = factor[dim]
        factor[dim] = next((n for n in range(old * 2, tile[dim] + 1, old) if tile[dim] % n == 0), old)
        if factor[dim] > old and holds(part, factor):
            return True
        factor[dim] = old
    return False


def as_planned(
    graph: LinalgGraph,  # noqa: ARG001 # as what it stands for
    nests: Mapping[str, Nest],
    parts: Mapping[str, Part],  # noqa: ARG001
    chosen: Container[str],  # noqa: ARG001
    platform: Platform,  # noqa: ARG001
) -> dict[str, Nest]:
    """The nests as they are."""
    return dict(nests)


def inner_orders(graph: LinalgGraph) -> Mapping[str, Order]:
    """Loops of each operation inside its tile: reductions, then as consumers want it or the widest input arrives."""
    wanted = _wanted(graph)
    arriving: dict[str, Order] = {}
    orders: dict[str, Order] = {}
    for op in graph.ops:
        orders[op.name] = order = _order(graph, op, wanted, arriving)
        for out in op.outputs:
            arriving[out.value] = positions(order, out)
    return orders


def _wanted(graph: LinalgGraph) -> dict[str, Order]:
    wanted: dict[str, Order] = {}
    for op in reversed(graph.ops):
        own = wanted.get(op.outputs[0].value)
        if op.kind != "generic" or op.is_contraction or (op.reduction is None and own is None):
            continue
        order = _reductions_first(op, loops_of(op.outputs[0], own) if own is not None else ())
        for operand in op.inputs:
            if len(operand.dims) == len(op.loops):
                wanted[operand.value] = positions(order, operand)
    return wanted


def _reductions_first(op: LinalgOp, parallels: Sequence[int]) -> Order:
    return tuple(dict.fromkeys((*reductions(op), *parallels, *range(len(op.loops)))))


def widest_input(_graph: LinalgGraph, op: LinalgOp, among: Container[str]) -> Operand | None:
    """The first one of most dimensions."""
    return max((o for o in op.inputs if o.value in among), key=lambda o: len(o.dims), default=None)


def made_meanwhile(_graph: LinalgGraph, _op: LinalgOp, _orders: Mapping[str, Order]) -> Operand | None:
    """Nothing."""
    return None


def _order(graph: LinalgGraph, op: LinalgOp, wanted: Mapping[str, Order], arriving: Mapping[str, Order]) -> Order:
    out = op.outputs[0]
    if out.value in wanted:
        return _reductions_first(op, loops_of(out, wanted[out.value]))
    widest = widest_input(graph, op, arriving)
    if widest is None or op.is_contraction:
        return _reductions_first(op, ())
    return _reductions_first(op, loops_of(widest, arriving[widest.value]))
