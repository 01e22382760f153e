"""How a concat passes a cache to which it appends: the cache first, row after row, in tokens as wide as `stream_width`
allows. So the cache streams while the new row is still being computed, the buffer of the reader behind it holds a tile
and not the cache, and in HBM the new row lies right behind the old ones.
"""

from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop


def appends_to_cache(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether the operation puts new rows behind those of a cache that lies in HBM."""
    return op.kind == "concat" and any(graph.value[operand.value].role == "state" for operand in op.inputs)


def wide_lanes(op: LinalgOp, bits: int, width: int) -> list[int]:
    """Unroll of each loop so that tokens of elements of `bits` fill `width` bits, neighbours in a row first."""
    unroll, left = [1] * len(op.loops), max(1, width // bits)
    for dim in reversed(op.outputs[0].dims):
        if dim == op.axis:
            continue
        unroll[dim] = next(n for n in range(min(left, op.loops[dim]), 0, -1) if op.loops[dim] % n == 0)
        left //= unroll[dim]
        if unroll[dim] < op.loops[dim]:
            break
    return unroll


def append_nest(graph: LinalgGraph, op: LinalgOp, width: int) -> Nest:
    """Rows outermost, each row as it lies in memory, in tokens of so many bits."""
    assert op.axis is not None
    unroll = wide_lanes(op, DTYPE_BITS[graph.value[op.outputs[0].value].dtype], width)
    order = (op.axis, *(d for d in op.outputs[0].dims if d != op.axis))
    loops = (NestLoop(d, op.loops[d] // unroll[d], unroll[d]) for d in order)
    return Nest(tuple(loop for loop in loops if loop.trip > 1), tuple(unroll))
