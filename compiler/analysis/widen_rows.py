"""Widen what runs one after the other: chains of row-wise tasks around a normalisation or a softmax.

A row must have passed a reduction before the next task of the chain may read it again, so the cycles of such a chain
add up where tasks otherwise overlap, and none of them is ever the slowest: the max-heap of `compiler.analysis.tiling`
leaves all at one lane. This step doubles the lanes of a whole chain at once, so that its tokens stay equal and no
converter comes in between, while the chain takes more than `SHARE` of the slowest task and lanes are left.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

from compiler.analysis.operators import run_cycles
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
from compiler.options import Knobs
from compiler.platforms.platform import Platform

SHARE = 1 / 16  # of the slowest task's cycles: below that a chain does not count
EXTRA = 1 / 4  # of `overall_unroll` may go to chains on top of it


def row_chains(graph: LinalgGraph, knobs: Knobs) -> Sequence[Sequence[LinalgOp]]:
    """Connected element-wise operations and reductions, in program order; those that read a product or are overridden
    stand outside, because they run while the product does.
    """
    return _row_chains(Same(graph), frozenset(override.op for override in knobs.overrides))


@lru_cache(maxsize=1024)
def _row_chains(same: Same[LinalgGraph], chosen: frozenset[str]) -> list[list[LinalgOp]]:
    graph = same.value
    chain_of: dict[str, list[LinalgOp]] = {}
    for op in graph.ops:
        sources = [graph.producer[o.value][0] for o in op.inputs if o.value in graph.producer]
        after_product = op.reduction is not None and any(s.is_contraction for s in sources)
        if op.kind != "generic" or op.is_contraction or op.name in chosen or after_product:
            continue
        chain = [op]
        for source in sources:
            before = chain_of.get(source.name)
            if before is not None and before is not chain:
                chain = [*before, *(o for o in chain if o not in before)]
                for member in chain:
                    chain_of[member.name] = chain
        chain_of[op.name] = chain
    chains = {id(chain): chain for chain in chain_of.values()}
    return [chain for chain in chains.values() if not any(_is_chunked(graph, op) for op in chain)]


def _is_chunked(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether a chunk reads what the operation makes: it routes tokens as they were planned."""
    return any(reader.kind == "chunk" for out in op.outputs for reader, _ in graph.consumers[out.value])


def serial_cycles(chain: Sequence[LinalgOp], nests: Mapping[str, Nest], platform: Platform) -> float:
    """Cycles that the tasks of a chain take one after the other: in each round of the loops outside its reductions. 0
    where nothing reduces over time.
    """
    rounds = [
        prod(nests[op.name].trips[: loops[0]])
        for op in chain
        if (loops := nests[op.name].reduction_loops(op.iterators))
    ]
    return sum(run_cycles(op, nests[op.name], platform) for op in chain) / min(rounds) if rounds else 0.0


def doubled(graph: LinalgGraph, op: LinalgOp, nest: Nest, knobs: Knobs) -> Nest | None:
    """The nest with twice the lanes along the last dimension of its widest input; None where that does not fit."""
    dims = max((operand.dims for operand in op.inputs), key=len, default=())
    walks = [k for k, loop in enumerate(nest.loops) if dims and loop.dim == dims[-1]]
    if not walks or nest.loops[walks[-1]].trip % 2:
        return None
    loop = nest.loops[walks[-1]]
    halved = [NestLoop(loop.dim, loop.trip // 2, 2 * loop.step)] if loop.trip > 2 else []
    unroll = tuple(lanes * 2 if d == loop.dim else lanes for d, lanes in enumerate(nest.unroll))
    bits = (
        prod(unroll[d] for d in operand.dims) * DTYPE_BITS[graph.value[operand.value].dtype]
        for operand in (*op.inputs, *op.outputs)
        if operand.dims
    )
    if max(bits) > knobs.stream_width:
        return None
    return Nest((*nest.loops[: walks[-1]], *halved, *nest.loops[walks[-1] + 1 :]), unroll)


def _wider(graph: LinalgGraph, chain: Sequence[LinalgOp], nests: Mapping[str, Nest], knobs: Knobs) -> dict[str, Nest]:
    """The nests of a chain with twice the lanes; empty where one of them can not have them.

    What works on whole rows only (a mean, its root) has one value a row and stays as it is.
    """
    rank = max(len(op.loops) for op in chain)
    made = {op.name: doubled(graph, op, nests[op.name], knobs) for op in chain if len(op.loops) == rank}
    return {name: nest for name, nest in made.items() if nest is not None} if None not in made.values() else {}


def widen_rows(graph: LinalgGraph, nests: Mapping[str, Nest], knobs: Knobs, platform: Platform) -> dict[str, Nest]:
    """The nests, chains widened, the longest first. O(chains x log(lanes) x operations of a chain)."""
    made = dict(nests)
    slowest = max((run_cycles(op, made[op.name], platform) for op in graph.ops if op.kind == "generic"), default=0)
    lanes = int(knobs.overall_unroll * EXTRA)
    chains = row_chains(graph, knobs)
    serial = [serial_cycles(chain, made, platform) for chain in chains]
    while (longest := max(serial, default=0.0)) > slowest * SHARE:
        place = serial.index(longest)
        wider = _wider(graph, chains[place], made, knobs)
        extra = sum(nest.lanes - made[name].lanes for name, nest in wider.items())
        if not wider or extra > lanes:
            serial[place] = 0.0  # it stays as it is
            continue
        lanes -= extra
        made |= wider
        serial[place] = serial_cycles(chains[place], made, platform)
    return made
