"""Parts of rows in turn: what reads rows that stay in memory does so for one part of them after the other.

A row of a cache, keys or values of all heads, passes in several tokens, and what is in one of them has nothing to do
with what is in the others: products and maxima are of one head. Walked row by row, all parts of all rows have to be
there before the first maximum is known, and no part is done before all are. Walked part by part, all rows of each, the
first is done while the next ones are made, and in memory the rows of a part lie behind each other. So each operation
that walks rows has the loop over parts outermost, and no lanes along more than one of them.

Sums of floats wait where few are left between two additions to the same one. Where there are such, lanes are dealt out
as if rows were walked whole, and these are told apart behind that if it is not much slower.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.caches import append_nest
from compiler.analysis.operators import run_cycles, sums_float_products
from compiler.analysis.rows import kept_rows, row_loops
from compiler.analysis.walked_together import Place, walked_together
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
from compiler.platforms.platform import Platform

_SLOWER = 2.0
"""Products of queries and keys, maxima and products of values each walk all rows: whole, two of them wait for the one
before; part by part all work at once.
"""


class RowParts(NamedTuple):
    """A row in `trip` parts of `step` points, and the loop of each operation that walks them."""

    trip: int
    step: int
    loops: Mapping[str, int]


ROWS_WHOLE = RowParts(1, 1, {})


def row_parts(graph: LinalgGraph, width: int) -> RowParts:
    """As caches pass their rows in tokens of so many bits, and operations walk them from the start; `ROWS_WHOLE` where
    a cache has a row in a token, an operation mixes parts, or products of floats are summed. O(operations x loops),
    once for a graph and a width.
    """
    parts = _parts_of(Same(graph), width)
    return ROWS_WHOLE if any(sums_float_products(graph.op[name]) for name in parts.loops) else parts


def parts_in_turn(graph: LinalgGraph, nests: Mapping[str, Nest], width: int, platform: Platform) -> dict[str, Nest]:
    """The nests; those of operations that walk rows with the loop over parts outermost, if all of them can, but where
    the longest of them would take `_SLOWER` times as long. O(operations x loops).
    """
    parts = _parts_of(Same(graph), width)
    made = {name: _outermost(nests[name], dim, parts) for name, dim in parts.loops.items()}
    found = {name: nest for name, nest in made.items() if nest is not None}
    if not found or len(found) < len(made):
        return dict(nests)
    before = {name: nests[name] for name in found}
    slower = _longest(graph, found, platform) / _longest(graph, before, platform)
    return {**nests, **found} if slower < _SLOWER else dict(nests)


def _longest(graph: LinalgGraph, nests: Mapping[str, Nest], platform: Platform) -> int:
    """Cycles of the operation that takes most."""
    return max(run_cycles(graph.op[name], nest, platform) for name, nest in nests.items())


@lru_cache(maxsize=256)
def _parts_of(same: Same[LinalgGraph], width: int) -> RowParts:
    graph = same.value
    rows, classes = row_loops(graph), walked_together(graph)
    found = set[tuple[Place, int, int]]()
    for kept in kept_rows(graph).values():
        inside = append_nest(graph, kept.op, width).loops[1:]
        if not inside:
            return ROWS_WHOLE
        found.add((classes.find(("loop", kept.op.name, inside[0].dim)), inside[0].trip, inside[0].step))
    if len(found) != 1:
        return ROWS_WHOLE
    ((place, trip, step),) = found
    loops = dict[str, int]()
    for name in rows:
        op = graph.op[name]
        over = [d for d in range(len(op.loops)) if classes.find(("loop", name, d)) == place]
        if len(over) != 1 or not _apart(op, over[0]) or op.loops[over[0]] != trip * step:
            return ROWS_WHOLE
        loops[name] = over[0]
    return RowParts(trip, step, loops)


def _apart(op: LinalgOp, dim: int) -> bool:
    return op.iterators[dim] == "parallel" and all(dim in out.dims for out in op.outputs)


def _outermost(nest: Nest, dim: int, parts: RowParts) -> Nest | None:
    """The nest with the loop over parts in front; None where its own loops, or lanes, mix them."""
    outermost = NestLoop(dim, parts.trip, parts.step)
    if nest.loops[0] == outermost:
        return nest
    own = [k for k, loop in enumerate(nest.loops) if loop.dim == dim]
    if len(own) != 1 or parts.step % nest.unroll[dim]:
        return None
    loop = nest.loops[own[0]]
    left = parts.step // loop.step
    inside = (loop._replace(trip=left),) if left > 1 else ()
    others = (*nest.loops[: own[0]], *inside, *nest.loops[own[0] + 1 :])
    return replace(nest, loops=(outermost, *others))
