"""Weights in integers: one scale for each output channel, the largest magnitude of it at the end of the range."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.frontend.integers.fixed_point import LARGEST
from compiler.frontend.interpret import gather, spread
from compiler.graph.linalg_graph import LinalgOp, Operand

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class QuantisedWeight:
    """`integers` as int8, in the shape of the tensor; over the dimensions of the result, of extent 1 where they are
    all alike: `scale` of one step, and `reach`, the largest magnitude of the sum of products with int8 numbers.
    """

    integers: Array
    scale: Array
    reach: Array


def quantise_weight(op: LinalgOp, operand: Operand, weight: Array, bits: int) -> QuantisedWeight:
    """The weight that the operation multiplies and sums over its reduction loops. Channels of zeros have scale 1."""
    top = 2 ** (bits - 1) - 1
    loops = spread(weight.astype(np.float64), operand, len(op.loops))
    summed = tuple(d for d, kind in enumerate(op.iterators) if kind == "reduction")
    peak = np.abs(loops).max(summed, keepdims=True)
    scale = np.where(peak > 0, peak / top, 1.0).astype(np.float32).astype(np.float64)
    integers = np.clip(np.rint(loops / scale), -top, top)
    others = [n for d, n in enumerate(op.loops) if d in summed and d not in operand.dims]
    reach = np.abs(integers).sum(summed, keepdims=True) * LARGEST * int(np.prod(others, dtype=np.int64))
    made = gather(integers, operand).astype(np.int8)
    return QuantisedWeight(made, _over(scale, op.outputs[0]), _over(reach, op.outputs[0]))


def _over(loops: Array, operand: Operand) -> Array:
    """What lies over the loops, over the dimensions of an operand."""
    kept = sorted(operand.dims)
    return loops.reshape([loops.shape[d] for d in kept]).transpose([kept.index(d) for d in operand.dims])
