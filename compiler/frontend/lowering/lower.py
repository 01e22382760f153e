"""Linalg text to LinalgGraph: the steps in order."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from compiler.frontend.lowering.fuse import fuse
from compiler.frontend.lowering.names import name_all
from compiler.frontend.lowering.normal_form import Argument, Draft, normal_form
from compiler.frontend.lowering.order import reductions_inside
from compiler.frontend.lowering.scalars import with_arg_dtype
from compiler.frontend.lowering.source import parse_source
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp


def lower(
    name: str, text: str, arguments: Sequence[Argument], outputs: Sequence[str], int4: Collection[str] = ()
) -> LinalgGraph:
    """The verified graph of a linalg module. `int4` names the arguments whose i8 elements fit four bits.

    Raises UnsupportedError naming the operation that has no place in the graph.
    """
    draft = normal_form(parse_source(text), arguments, outputs)
    fuse(draft)  # before names: a fused operation is called as the last of its parts
    reductions_inside(draft)
    _retype(draft, set(int4))
    name_all(draft)
    graph = LinalgGraph(name, tuple(draft.values.values()), tuple(draft.ops), tuple(draft.outputs))
    graph.verify()
    return graph


def _retype(draft: Draft, int4: set[str]) -> None:
    """torch has no 4-bit tensors: weights that fit travel as i8 up to here."""
    draft.values = {n: replace(v, dtype="i4") if n in int4 else v for n, v in draft.values.items()}
    draft.ops = [_retype_op(op, int4) for op in draft.ops]


def _retype_op(op: LinalgOp, int4: set[str]) -> LinalgOp:
    body = op.body
    for i, operand in enumerate(op.inputs):
        if body is not None and operand.value in int4:
            body = with_arg_dtype(body, i, "i4")
    return replace(op, body=body)
