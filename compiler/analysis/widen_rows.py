"""Widen what runs one after the other: chains of row-wise tasks around a normalisation or a softmax.

A row must have passed a reduction before the next task of the chain may read it again, so the cycles of such a chain
add up where tasks otherwise overlap, and none of them is ever the slowest: the max-heap of `compiler.analysis.tiling`
leaves all at one lane. This step doubles the lanes of a whole chain at once, so that its tokens stay equal and no
converter comes in between, while lanes are left. How far, the rule says that deals out all others (knob `unrolling`):

- `slowest`: while the chain takes more than `SHARE` of the slowest task.
- `worth`: while the doubling saves `CHAIN_WORTH` of the time for its share of the board, who saves most for it first.
  With many rows a chain is short beside its products, and lanes that would make it shorter still are better theirs. One
  that only follows products has been dealt its lanes with theirs (`compiler.analysis.lanes`).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.followed_products import followed_products
from compiler.analysis.growth import Part, share_of
from compiler.analysis.operators import run_cycles
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.same import Same
from compiler.options import Knobs
from compiler.platforms.platform import Platform

SHARE = 1 / 16  # of the slowest task's cycles: below that a chain does not count
# A hundredth of the board for a fifth of a hundredth of the time, less than half of what others have to save: at an
# eighth steps of a token take 2 % less with 5 to 12 % more LUTs, and products of 128 rows hardly fit.
CHAIN_WORTH = 1 / 5
EXTRA = 1 / 4  # of `overall_unroll` may go to chains on top of it


class _Offer(NamedTuple):
    """Nests of a chain: cycles that they save for a share of the board."""

    nests: Mapping[str, Nest]
    saved: float
    share: float

    @property
    def worth(self) -> float:
        return self.saved / self.share


_NOTHING = _Offer({}, 0.0, 1.0)


def row_chains(graph: LinalgGraph, knobs: Knobs) -> Sequence[Sequence[LinalgOp]]:
    """Connected element-wise operations and reductions, in program order; those that read a product or are overridden
    stand outside, because they run while the product does.
    """
    return _row_chains(Same(graph), knobs.walked_apart)


@lru_cache(maxsize=1024)
def _row_chains(same: Same[LinalgGraph], chosen: frozenset[str]) -> list[list[LinalgOp]]:
    graph = same.value
    chain_of: dict[str, list[LinalgOp]] = {}
    for op in graph.ops:
        sources = graph.sources(op)
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


def serial_cycles(
    graph: LinalgGraph, chain: Sequence[LinalgOp], nests: Mapping[str, Nest], platform: Platform
) -> float:
    """Cycles that the tasks of a chain take one after the other, in all runs of a launch: in each round of the loops
    outside its reductions. 0 where nothing reduces over time.
    """
    rounds = [
        prod(nests[op.name].trips[: loops[0]])
        for op in chain
        if (loops := nests[op.name].reduction_loops(op.iterators))
    ]
    cycles = sum(run_cycles(op, nests[op.name], platform) * graph.runs_of(op.name) for op in chain)
    return cycles / min(rounds) if rounds else 0.0


def doubled(graph: LinalgGraph, op: LinalgOp, nest: Nest, width: int) -> Nest | None:
    """The nest with twice the lanes along the last dimension of its widest input; None where that does not fit in
    tokens of `width` bits.
    """
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
    if max(bits) > width:
        return None
    return Nest((*nest.loops[: walks[-1]], *halved, *nest.loops[walks[-1] + 1 :]), unroll)


def _wider(graph: LinalgGraph, chain: Sequence[LinalgOp], nests: Mapping[str, Nest], width: int) -> dict[str, Nest]:
    """The nests of a chain with twice the lanes; empty where one of them can not have them.

    What works on whole rows only (a mean, its root) has one value a row and stays as it is.
    """
    rank = max(len(op.loops) for op in chain)
    made = {op.name: doubled(graph, op, nests[op.name], width) for op in chain if len(op.loops) == rank}
    return {name: nest for name, nest in made.items() if nest is not None} if None not in made.values() else {}


@lru_cache(maxsize=16384)  # with one other knob most chains are the same
def _doubling(
    same: Same[LinalgGraph],
    of: Same[Sequence[LinalgOp]],
    nests: tuple[Nest, ...],
    parts: tuple[Part, ...],
    width: int,
    platform: Platform,
) -> _Offer:
    """The doubling of a chain's lanes."""
    graph, chain = same.value, of.value
    now = {op.name: nest for op, nest in zip(chain, nests, strict=True)}
    part = {op.name: one for op, one in zip(chain, parts, strict=True)}
    wider = _wider(graph, chain, now, width)
    share = sum(share_of(part[n], nest, platform) - share_of(part[n], now[n], platform) for n, nest in wider.items())
    saved = serial_cycles(graph, chain, now, platform) - serial_cycles(graph, chain, now | wider, platform)
    return _Offer(wider, saved, share or 1.0)


def widen_rows(
    graph: LinalgGraph, nests: Mapping[str, Nest], parts: Mapping[str, Part], knobs: Knobs, platform: Platform
) -> dict[str, Nest]:
    """The nests, chains widened; `parts` are the operations that compute, with their tokens. O(chains x log(lanes) x
    operations of a chain).
    """
    widening = _Widening(graph, dict(nests), parts, knobs, platform)
    if knobs.unrolling == "slowest":
        widening.the_longest()
    else:
        widening.by_worth()
    return widening.nests


class _Widening:
    """Chains with their serial cycles, and the lanes that are left for them."""

    def __init__(
        self, graph: LinalgGraph, nests: dict[str, Nest], parts: Mapping[str, Part], knobs: Knobs, platform: Platform
    ) -> None:
        self._graph, self.nests, self._parts, self._knobs, self._platform = graph, nests, parts, knobs, platform
        self._left = int(knobs.overall_unroll * EXTRA)
        self._chains = row_chains(graph, knobs)
        self._followed = followed_products(graph)
        self._serial = [serial_cycles(graph, chain, nests, platform) for chain in self._chains]

    def the_longest(self) -> None:
        """While the longest chain takes more than `SHARE` of the slowest task."""
        slowest = max((self._cycles(op) for op in self._graph.ops if op.kind == "generic"), default=0)
        serial = dict(enumerate(self._serial))
        while serial and (longest := max(serial.values())) > slowest * SHARE:
            place = next(place for place, cycles in serial.items() if cycles == longest)
            wider = self._wider(place)
            if wider and self._take(wider):
                serial[place] = serial_cycles(self._graph, self._chains[place], self.nests, self._platform)
            else:
                del serial[place]  # it stays as it is

    def by_worth(self) -> None:
        """While a chain saves `CHAIN_WORTH` of the time for its share of the board, who saves most for it first. The
        time is that of all products and chains, one after the other.
        """
        products = sum(self._cycles(op) for op in self._graph.ops if op.is_contraction)
        offers = {place: self._offer(place) for place in range(len(self._chains))}
        while offers:
            place, best = max(offers.items(), key=lambda offer: offer[1].worth)
            if not best.saved or best.worth < CHAIN_WORTH * (products + sum(self._serial)):
                return
            if self._take(best.nests):
                self._serial[place] -= best.saved
                offers[place] = self._offer(place)
            else:
                del offers[place]

    def _offer(self, place: int) -> _Offer:
        """The next doubling of a chain; one that saves nothing where there is none, or the chain follows products."""
        chain = self._chains[place]
        if all(op.name in self._followed for op in chain if op.iterations > 1):
            return _NOTHING
        nests, parts = (tuple([of[op.name] for op in chain]) for of in (self.nests, self._parts))
        return _doubling(Same(self._graph), Same(chain), nests, parts, self._knobs.stream_width, self._platform)

    def _wider(self, place: int) -> dict[str, Nest]:
        return _wider(self._graph, self._chains[place], self.nests, self._knobs.stream_width)

    def _take(self, wider: Mapping[str, Nest]) -> bool:
        """False where that takes more lanes than are left."""
        extra = sum(nest.lanes - self.nests[name].lanes for name, nest in wider.items())
        if extra > self._left:
            return False
        self._left -= extra
        self.nests |= wider
        return True

    def _cycles(self, op: LinalgOp) -> int:
        return run_cycles(op, self.nests[op.name], self._platform) * self._graph.runs_of(op.name)
