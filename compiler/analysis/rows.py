"""Rows that stay in memory: what a launch makes and later ones read, each where its argument says.

A state is read row after row, in front of the new one (`compiler.analysis.vectorise`), all of it or part by part
(`compiler.analysis.row_parts`), so that in memory the rows of a layer, or of a part, lie behind each other. The new row
is stored as it would be read.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.boundary import carried
from compiler.analysis.walked_together import walked_together
from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Row
from compiler.graph.program import Argument, BoundLoop
from compiler.graph.same import Same
from compiler.graph.task_graph import Dma


class Kept(NamedTuple):
    """A value is row `row` of the state `state`, along dimension `axis` of that: input `operand` of `op`."""

    state: str
    axis: int
    row: Row
    op: LinalgOp
    operand: int


def kept_rows(graph: LinalgGraph) -> dict[str, Kept]:
    """Rows that stay in memory, by the values that operations make. Raises VerificationError where a state is not read
    by one concat.
    """
    found = dict[str, Kept]()
    outputs = [out for out in graph.outputs if out.row is not None]
    for out, state in carried(outputs, graph.values) if outputs else ():
        assert out.row is not None
        readers = graph.consumers[state.name]
        if len(readers) != 1 or readers[0][0].kind != "concat":
            raise VerificationError(f"{out.value} is to be a row of {state.name}, which one concat must read")
        ((op, operand),) = readers
        assert op.axis is not None
        found[out.value] = Kept(state.name, op.inputs[operand].dims.index(op.axis), out.row, op, operand)
    return found


def made_rows(graph: LinalgGraph) -> dict[str, Row]:
    """Results that stay in memory, one row a launch, and that no launch reads, by the values that operations make."""
    kept = kept_rows(graph)
    return {out.value: out.row for out in graph.outputs if out.row is not None and out.value not in kept}


def given_rows(graph: LinalgGraph) -> frozenset[str]:
    """Values of which such a result is made, and of which a launch reads the row of the same place: a prompt."""
    made, given = made_rows(graph), [v for v in graph.values if v.role == "input" and v.row is not None]
    of = {v.name: (made.get(o.value), v.row) for v in given for op, _ in graph.consumers[v.name] for o in op.outputs}
    return frozenset(name for name, (row, own) in of.items() if row and own and row.argument == own.argument)


def row_loops(graph: LinalgGraph) -> Mapping[str, int]:
    """The loop of each operation that walks rows that stay in memory; none where none stay. Raises as `kept_rows`.
    O(loops), once for a graph.
    """
    return _row_loops(Same(graph))


@lru_cache(maxsize=256)
def _row_loops(same: Same[LinalgGraph]) -> Mapping[str, int]:
    graph = same.value
    kept = kept_rows(graph).values()
    if not kept:
        return {}
    classes = walked_together(graph)
    roots = {classes.find(("loop", row.op.name, row.op.axis or 0)) for row in kept}
    return {
        op.name: dim
        for op in graph.ops
        for dim in range(len(op.loops))
        if classes.find(("loop", op.name, dim)) in roots
    }


def tokens_of_rows(graph: LinalgGraph, value: str, streamed: ITensor) -> int:
    """Tokens of a value behind which a launch may end: of each iteration of the outermost loop over rows that stay in
    memory; 0 where nothing reads it along with such.
    """
    loops = row_loops(graph)
    for op, number in graph.consumers[value]:
        dims = op.inputs[number].dims
        for k, loop in enumerate(streamed.loops):
            if op.name in loops and loop.dim is not None and dims[loop.dim] == loops[op.name]:
                return prod(inside.trip for inside in streamed.loops[k + 1 :] if inside.dim is not None)
    return 0


def all_rows(one: ITensor, row: Row) -> ITensor:
    """How all rows lie in memory, of which each streams as `one`, without what that reads again: inside the loops over
    the dimensions in front of theirs.
    """
    element = (*one.element[: row.axis], 1, *one.element[row.axis :])
    loops = [loop if loop.dim is None or loop.dim < row.axis else loop._replace(dim=loop.dim + 1) for loop in one.loops]
    loops.insert(row.axis, Loop(row.count, 1, row.axis))
    return ITensor(element, one.dtype, tuple(loops))


def row_itensor(state: ITensor, axis: int) -> ITensor:
    """How one row along `axis` streams of what streams as `state`. Raises VerificationError where a token holds several
    rows, or parts of rows lie among each other.
    """
    number = _loop_over(state, axis)
    loops = [loop for k, loop in enumerate(state.loops) if k != number]
    left = [d for d in range(len(state.element)) if d != axis]
    moved = (loop if loop.dim is None else loop._replace(dim=left.index(loop.dim)) for loop in loops)
    return ITensor(tuple(state.element[d] for d in left), state.dtype, tuple(moved))


def row_tokens(state: ITensor, axis: int) -> int:
    """Tokens of one row along `axis`, which lie behind each other."""
    return row_itensor(ITensor(state.element, state.dtype, state.loops[_loop_over(state, axis) :]), axis).tokens


def earlier_rows(state: Dma, kept: Kept) -> Dma:
    """The transfer of `state`, of which only rows before that of the launch are read."""
    return replace(state, below=_place(state, kept))


def new_row(state: Dma, kept: Kept) -> Dma:
    """The transfer of the launch's row into the memory of `state`."""
    return replace(state, at=_place(state, kept), below=None)


def _place(state: Dma, kept: Kept) -> BoundLoop:
    return BoundLoop(_loop_over(state.layout, kept.axis), Argument(kept.row.argument, kept.row.count - 1))


def _loop_over(itensor: ITensor, dim: int) -> int:
    over = [k for k, loop in enumerate(itensor.loops) if loop.dim == dim]
    if len(over) != 1 or itensor.element[dim] != 1:
        raise VerificationError(f"{itensor} does not stream one row along dimension {dim} after the other")
    return over[0]
