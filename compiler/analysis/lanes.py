"""Who grows: lanes are dealt out to operations until there are as many as asked for (level 1 of the design space).

`slowest` is the paper's heap: the next lanes go to the operation that takes longest. `worth` asks of each what its next
lanes save and what they cost. What passes the results of a product on as they come saves nothing once it keeps up with
them; all others save the cycles that they no longer take, since a row of a network is computed one operation after the
other, in every layer of a launch. The next lanes go to who saves most cycles for its share of the board, until a share
saves less than `LEAST_WORTH` of it.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import NamedTuple

from compiler.analysis.boundary import carried, same_places
from compiler.analysis.followed_products import Following, followed_products
from compiler.analysis.growth import Growth, Unroll
from compiler.analysis.row_parts import row_parts
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform

# A hundredth of the board for 0.44 hundredths of the time: at 0.46 the attention of 128 rows has half the lanes and a
# layer takes a tenth longer.
LEAST_WORTH = 0.44
STEPS_AHEAD = 2  # some steps alone save nothing: those that only make a chain of additions longer


def deal_lanes(
    graph: LinalgGraph, unrolls: Mapping[str, Unroll], fixed: Collection[str], knobs: Knobs, platform: Platform
) -> None:
    """Grow all but the `fixed` until they have `overall_unroll` lanes together, or no more pay."""
    free = {name: unroll for name, unroll in unrolls.items() if name not in fixed}
    total = sum(unroll.lanes for unroll in unrolls.values())
    if knobs.unrolling == "slowest":
        _to_the_slowest(free, total, knobs.overall_unroll)
    else:
        _Worth(graph, unrolls, knobs, platform).deal(free, total, knobs.overall_unroll)


def _to_the_slowest(free: Mapping[str, Unroll], total: int, most: int) -> None:
    heap = [(-unroll.cycles, name) for name, unroll in free.items()]
    heapq.heapify(heap)
    while heap and total < most:
        _, name = heap[0]
        unroll = free[name]
        before = unroll.lanes
        if unroll.grow():
            total += unroll.lanes - before
            heapq.heapreplace(heap, (-unroll.cycles, name))
        else:
            heapq.heappop(heap)


class _Coming(NamedTuple):
    """Of results: cycles from the first to the last, and bursts in which they come, the last in so many cycles."""

    cycles: int
    bursts: int
    last: int


class _Taken(NamedTuple):
    """Of results: cycles in which they are taken, in so many parts."""

    cycles: int
    parts: int

    def hide(self, made: int) -> int:
        """What is left of so many cycles: those of the first part, or of what is made more slowly than it is taken."""
        return made if self.parts == 1 else max(made // self.parts, made - self.cycles)


class _Offer(NamedTuple):
    """Steps of a growth, and cycles that they save for their share of the board."""

    worth: float
    steps: int


_NOTHING = _Offer(0.0, 0)


class _Worth:
    """What the next steps of each are worth. O(operations) for each step that is taken."""

    def __init__(self, graph: LinalgGraph, unrolls: Mapping[str, Unroll], knobs: Knobs, platform: Platform) -> None:
        self._unrolls, self._rows = unrolls, knobs.rows
        self._sums = {op.name for op in graph.ops if op.reduction is not None}
        self._place = {op: (unroll, n) for unroll in unrolls.values() for n, op in enumerate(unroll.ops)}
        self._followed, self._parts = followed_products(graph), row_parts(graph, knobs.stream_width).trip
        self._words = words_handed_on(graph, platform)
        self._loaded = weights_outside(graph) if knobs.weights == "streamed" else dict[str, Weights]()
        self._word_bits = min(knobs.hbm_channels, platform.hbm.kernel_ports) * platform.hbm.port_bits
        self._followers: dict[str, set[str]] = {}
        for op in self._place.keys() & self._followed.keys():
            for before in (self._followed[op].product, *self._followed[op].adders):
                self._followers.setdefault(self._served_with(before), set()).add(self._served_with(op))
        self._taken = taken_by_parts(graph) if knobs.order == "reduction-outer" else dict[str, str]()
        for op in self._place.keys() & self._taken.keys():
            self._followers.setdefault(self._served_with(self._taken[op]), set()).add(self._served_with(op))
        self._waiting = {name: [g for g in u.growths if self._waits(g.part.op.name)] for name, u in unrolls.items()}
        self._others = {name: [g for g in u.growths if g not in self._waiting[name]] for name, u in unrolls.items()}
        self._known = {name: dict[int, int]() for name in unrolls}  # cycles of these, by step

    def _waits(self, op: str) -> bool:
        """Whether it takes no longer than it has to wait for the results that it follows, or for who takes its own."""
        return (op in self._followed or op in self._taken) and op not in self._words

    def _served_with(self, op: str) -> str:
        return self._place[op][0].ops[0]

    def deal(self, free: Mapping[str, Unroll], total: int, most: int) -> None:
        ahead = {name: self._ahead(name) for name in self._unrolls}
        offers = {name: self._offer(name, ahead[name]) for name in free}
        worth = {name: offer.worth for name, offer in offers.items()}
        whole = sum([cycles[0] for cycles in ahead.values()])
        while worth and total < most:
            name = max(worth, key=worth.__getitem__)
            if not offers[name].steps or worth[name] < LEAST_WORTH * whole:
                return
            unroll = free[name]
            before = unroll.lanes
            unroll.grow(offers[name].steps)
            total += unroll.lanes - before
            for changed in (name, *self._followers.get(name, ())):
                whole -= ahead[changed][0]
                ahead[changed] = self._ahead(changed)
                whole += ahead[changed][0]
                if changed in offers:
                    offers[changed] = offer = self._offer(changed, ahead[changed])
                    worth[changed] = offer.worth

    def _ahead(self, name: str) -> list[int]:
        """Cycles that an operation, or those that share its lanes, add to the time: now, and with the next steps."""
        unroll = self._unrolls[name]
        steps = range(unroll.at, unroll.at + 1 + min(STEPS_AHEAD, unroll.left))
        found = [self._of_others(name, step) for step in steps]
        for growth in self._waiting[name]:
            found = [sum(both) for both in zip(found, self._after_waiting(growth, steps), strict=True)]
        return found

    def _of_others(self, name: str, step: int) -> int:
        """Cycles of those that follow nothing."""
        found = self._known[name].get(step)
        if found is None:
            found = self._known[name][step] = sum([self._cycles(growth, step) for growth in self._others[name]])
        return found

    def _cycles(self, growth: Growth, step: int) -> int:
        """Weights that are used once in a launch come no faster than through all ports."""
        name, cycles = growth.part.op.name, growth.cycles(step)
        if (weights := self._loaded.get(name)) is not None:
            cycles = max(cycles, loading_cycles(weights, growth.factors[step], self._word_bits))
        return max(cycles, self._words.get(name, 0))

    def _after_waiting(self, growth: Growth, steps: range) -> list[int]:
        """Cycles for which the results wait that it follows, at their end, or of their last burst, and beyond those of
        the product that takes its own as they come.
        """
        name, found = growth.part.op.name, [self._cycles(growth, step) for step in steps]
        following, taken = self._followed.get(name), self._taken_in(name)
        if following is None:
            return [taken.hide(cycles) for cycles in found]
        coming = self._coming(name, following)
        if following.behind:
            before = coming.cycles - coming.cycles // self._parts
            waited = [max(cycles // self._parts, cycles - before) for cycles in found]
            taken = taken._replace(cycles=taken.cycles // self._parts)
        else:
            waited = [max(0, cycles - coming.cycles, cycles // coming.bursts - coming.last) for cycles in found]
        return [taken.hide(cycles) for cycles in waited]

    def _taken_in(self, name: str) -> "_Taken":
        """By the product that adds up what parts of the results give: of one row, where it has several side by side."""
        if name not in self._taken:
            return _Taken(0, 1)
        unroll, n = self._place[self._taken[name]]
        growth = unroll.growths[n]
        return _Taken(growth.cycles(unroll.at) // (self._rows if len(unroll.ops) > 1 else 1), growth.sums(unroll.at))

    def _coming(self, name: str, following: Following) -> _Coming:
        """Of the results that an operation follows. Those of an engine come as fast as it computes rows of a prompt
        side by side; what adds up parts of them is there as often, and gives results with the last parts.
        """
        unroll, n = self._place[following.product]
        product = unroll.growths[n]
        bursts, whole = product.bursts(unroll.at), product.iterations(unroll.at)
        cycles = product.leaving(unroll.at)
        for adder, m in map(self._place.__getitem__, following.adders):
            cycles = cycles * adder.growths[m].leaving(adder.at) // adder.growths[m].iterations(adder.at)
            bursts = adder.growths[m].bursts(adder.at)
        rows = self._rows if len(unroll.ops) > 1 and name not in self._sums else 1
        return _Coming(cycles // rows, bursts, (cycles - whole + whole // bursts) // rows)

    def _offer(self, name: str, ahead: Sequence[int]) -> _Offer:
        """The best of the next steps; `_NOTHING` where none saves anything."""
        unroll, now, best = self._unrolls[name], ahead[0], _NOTHING
        at, share = unroll.at, unroll.growths[0].share
        for steps in range(1, len(ahead)):
            if (saved := now - ahead[steps]) > 0:
                worth = saved / (share(at + steps) - share(at))
                if not best.steps or worth > best.worth:
                    best = _Offer(worth, steps)
        return best


def taken_by_parts(graph: LinalgGraph) -> Mapping[str, str]:
    """By operation the product that takes its results, where that adds up what each part of them gives as they come."""
    found = dict[str, str]()
    for op in graph.ops:
        takers = [
            taker.name for out in op.outputs for taker, _ in graph.consumers.get(out.value, ()) if taker.is_contraction
        ]
        if takers and op.reduction is None and not op.is_contraction:
            found[op.name] = takers[0]
    return found


def words_handed_on(graph: LinalgGraph, platform: Platform) -> Mapping[str, int]:
    """By operation, words of a port that take what a layer, or a run, hands on to the next: the first loads that in the
    tokens in which it is handed on, while nothing else can run, so that the lanes of who makes it count for both.
    """
    again = carried(graph.outputs, graph.values)
    made = {out.value for out, value in again if same_places(out, graph.value[out.value], value)}
    values = [graph.value[name] for name in (*made, *(pair.made for pair in graph.carried))]
    bits = {
        graph.producer[v.name][0].name: prod(v.shape) * DTYPE_BITS[v.dtype] for v in values if v.name in graph.producer
    }
    return {name: -(-count // platform.hbm.port_bits) * graph.runs_of(name) for name, count in bits.items()}


class Weights(NamedTuple):
    """Of a product: their loops among its own, the points of these, and bits of one."""

    dims: tuple[int, ...]
    points: int
    bits: int


def weights_outside(graph: LinalgGraph) -> Mapping[str, Weights]:
    """Of products outside of layers: far more of them than the chip holds come while one of these runs, only then."""
    found = dict[str, Weights]()
    for op in map(graph.op.__getitem__, graph.outside):
        for read in op.inputs if op.is_contraction else ():
            if (value := graph.value[read.value]).role == "param":
                found[op.name] = Weights(read.dims, prod(value.shape), DTYPE_BITS[value.dtype])
    return found


def loading_cycles(weights: Weights, factor: Sequence[int], word_bits: int) -> int:
    """Of as many words a token as it has, with these points side by side along each loop."""
    token = prod(factor[d] for d in weights.dims)
    return -(-weights.points // token) * -(-token * weights.bits // word_bits)
