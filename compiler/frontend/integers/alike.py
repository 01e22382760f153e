"""Values that share a scale: what only moves or chooses elements of others holds the same integers.

Parts, concatenations, windows and maxima do. So a scale belongs to all values that they lead to, and these are int8 or
none of them is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from compiler.graph.linalg_graph import LinalgGraph, LinalgOp


def moves(op: LinalgOp) -> bool:
    """Whether each element of the outputs is one of the inputs' elements, or what fills up."""
    return op.kind != "generic" or (chooses(op) and is_plain(op))


def chooses(op: LinalgOp) -> bool:
    """Whether it is a maximum or minimum of what its body makes."""
    return op.reduction is not None and op.reduction.combiner in ("max", "min") and math.isinf(op.reduction.init)


def is_plain(op: LinalgOp) -> bool:
    """Whether the body of the operation is what it reads."""
    return op.body is not None and not op.body.ops and len(op.inputs) == 1


@dataclass
class Alike:
    """Sets of values that share a scale, as a forest in which each is named by its root."""

    _above: dict[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    def of(graph: LinalgGraph) -> "Alike":
        made = Alike()
        for op in graph.ops:
            if moves(op):
                made.join([o.value for o in (*op.inputs, *op.outputs)])
        return made

    def root(self, value: str) -> str:
        while (above := self._above.get(value, value)) != value:
            value = above
        return value

    def join(self, values: Iterable[str]) -> None:
        first, *others = [self.root(value) for value in values]
        for other in others:
            if other != first:
                self._above[other] = first
