"""Parts of rows in turn: what reads rows that stay in memory does so for one part of them after the other.

A row of a cache, keys or values of all heads, passes in several tokens, and what is in one of them has nothing to do
with what is in the others: products and maxima are of one head. Walked row by row, all parts of all rows have to be
there before the first maximum is known, and no part is done before all are. Walked part by part, all rows of each, the
first is done while the next ones are made, and in memory the rows of a part lie behind each other.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from compiler.analysis.operators import run_cycles
from compiler.analysis.rows import kept_rows, row_loops
from compiler.analysis.walked_together import Place, walked_together
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.platforms.platform import Platform

_SLOWER = 2.0
"""Products of queries and keys, maxima and products of values each walk all rows: whole, two of them wait for the one
before; part by part all work at once.
"""


class _Parts(NamedTuple):
    """A row in `trip` parts of `step` points, and the loop of each operation that walks them."""

    trip: int
    step: int
    loops: Mapping[str, int]


def parts_in_turn(graph: LinalgGraph, nests: Mapping[str, Nest], platform: Platform) -> dict[str, Nest]:
    """The nests; where each operation that walks rows can, those with the loop over parts outermost, but where the
    longest of them would take `_SLOWER` times as long: sums of floats do where few iterations are left between two
    additions to the same element. O(operations x loops).
    """
    parts = _parts_of(graph, nests)
    if parts is None:
        return dict(nests)
    made = {name: _outermost(nests[name], dim, parts) for name, dim in parts.loops.items()}
    found = {name: nest for name, nest in made.items() if nest is not None}
    if len(found) < len(made):
        return dict(nests)
    before = {name: nests[name] for name in found}
    slower = _longest(graph, found, platform) / _longest(graph, before, platform)
    return {**nests, **found} if slower < _SLOWER else dict(nests)


def _longest(graph: LinalgGraph, nests: Mapping[str, Nest], platform: Platform) -> int:
    """Cycles of the operation that takes most."""
    return max(run_cycles(graph.op[name], nest, platform) for name, nest in nests.items())


def _parts_of(graph: LinalgGraph, nests: Mapping[str, Nest]) -> _Parts | None:
    """As all caches pass their tokens; None where one has a row in a token, or an operation mixes parts."""
    rows, classes = row_loops(graph), walked_together(graph)
    found = set[tuple[Place, int, int]]()
    for kept in kept_rows(graph).values():
        inside = [loop for loop in nests[kept.op.name].loops if loop.dim != kept.op.axis]
        if not inside:
            return None
        found.add((classes.find(("loop", kept.op.name, inside[0].dim)), inside[0].trip, inside[0].step))
    if len(found) != 1:
        return None
    ((place, trip, step),) = found
    loops = dict[str, int]()
    for name in rows:
        op = graph.op[name]
        over = [d for d in range(len(op.loops)) if classes.find(("loop", name, d)) == place]
        if len(over) != 1 or not _apart(op, over[0]) or op.loops[over[0]] != trip * step:
            return None
        loops[name] = over[0]
    return _Parts(trip, step, loops)


def _apart(op: LinalgOp, dim: int) -> bool:
    return op.iterators[dim] == "parallel" and all(dim in out.dims for out in op.outputs)


def _outermost(nest: Nest, dim: int, parts: _Parts) -> Nest | None:
    """The nest with the loop over parts in front; None where its own loops, or lanes, mix them."""
    own = [k for k, loop in enumerate(nest.loops) if loop.dim == dim]
    if len(own) != 1 or parts.step % nest.unroll[dim]:
        return None
    loop = nest.loops[own[0]]
    left = parts.step // loop.step
    inside = (loop._replace(trip=left),) if left > 1 else ()
    others = (*nest.loops[: own[0]], *inside, *nest.loops[own[0] + 1 :])
    return replace(nest, loops=(NestLoop(dim, parts.trip, parts.step), *others))
