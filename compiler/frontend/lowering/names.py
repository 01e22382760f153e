"""Final names of operations and intermediate values, from the module path that each came from.

A contraction is `<path>.matmul`, another reduction `<path>.sum` (or max, ...), a chunk `<path>.chunk`; everything else
is called as its module. A value is called as the operation that makes it, a chunk's part as the module that slices it.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from compiler.frontend.lowering.normal_form import Draft
from compiler.graph.linalg_graph import LinalgOp, Operand, Output


def name_all(draft: Draft) -> None:
    """Rename the operations and intermediate values of `draft` in place."""
    taken = [v.name for v in draft.values.values() if v.role != "intermediate"]
    of_ops, of_values = _Names(taken), _Names(taken)
    makers = {op.outputs[0].value: op for op in reversed(draft.ops)}
    op_names: dict[str, str] = {}
    value_names: dict[str, str] = {}
    for op in draft.ops:
        op_names[op.name] = of_ops.unique(_base_name(draft, makers, op))
        for i, output in enumerate(op.outputs):
            base = op_names[op.name]
            if op.kind == "chunk":
                base = _clean(draft.slices.get(output.value, f"{base}.{i}"))
            value_names[output.value] = of_values.unique(base)

    def operands(uses: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(Operand(value_names.get(o.value, o.value), o.dims) for o in uses)

    draft.ops = [
        replace(op, name=op_names[op.name], inputs=operands(op.inputs), outputs=operands(op.outputs))
        for op in draft.ops
    ]
    draft.outputs = [Output(o.name, value_names.get(o.value, o.value), o.permutation, o.shape) for o in draft.outputs]
    renamed = {name: replace(v, name=value_names.get(name, name)) for name, v in draft.values.items()}
    draft.values = {v.name: v for v in renamed.values()}


def _base_name(draft: Draft, makers: dict[str, LinalgOp], op: LinalgOp) -> str:
    path = _clean(draft.paths[op.name]) or "op"
    if op.kind == "chunk":
        producer = makers.get(op.inputs[0].value)
        source = _clean(draft.paths[producer.name]) if producer else op.inputs[0].value
        return f"{source}.chunk"
    return path


def _clean(path: str) -> str:
    return re.sub(r"[^a-z0-9_.]", "_", path.lower())


class _Names:
    """Gives names that differ from all others: the second `x` is `x_2`."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def unique(self, base: str) -> str:
        name, number = base, self._next.get(base, 2)
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._next[base] = number
        self._taken.add(name)
        return name
