"""Who grows: lanes are dealt out to operations until there are as many as asked for (level 1 of the design space).

`slowest` is the paper's heap: the next lanes go to the operation that takes longest. `worth` asks of each what its next
lanes save and what they cost. What passes the results of a product on as they come saves nothing once it keeps up with
them; all others save the cycles that they no longer take, since a row of a network is computed one operation after the
other, in every layer of a launch. The next lanes go to who saves most cycles for its share of the board, until a share
saves less than `LEAST_WORTH` of it.
"""

import heapq
from collections.abc import Collection, Container, Mapping, Sequence
from ctypes import c_double
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.boundary import carried, same_places
from compiler.analysis.core import Words, address, core, pointer, words, zeros
from compiler.analysis.followed_products import Following, followed_products
from compiler.analysis.growth import Growth, Unroll
from compiler.analysis.row_parts import row_parts
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.same import Same
from compiler.options import Knobs, LoopOrder
from compiler.platforms.platform import Platform

# A hundredth of the board for 0.44 hundredths of the time: at 0.46 the attention of 128 rows has half the lanes and a
# layer takes a tenth longer.
LEAST_WORTH = 0.44
_ASKED = 1024  # steps that the core asks for at once
_NOBODY = -1  # as core/deal.h has it


def deal_lanes(
    graph: LinalgGraph, unrolls: Mapping[str, Unroll], fixed: Collection[str], knobs: Knobs, platform: Platform
) -> None:
    """Grow all but the `fixed` until they have `overall_unroll` lanes together, or no more pay."""
    free = {name: unroll for name, unroll in unrolls.items() if name not in fixed}
    if knobs.unrolling == "slowest":
        _to_the_slowest(free, sum(unroll.lanes for unroll in unrolls.values()), knobs.overall_unroll)
    else:
        _to_the_worthiest(graph, unrolls, free, knobs, platform)


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


def _to_the_worthiest(
    graph: LinalgGraph, unrolls: Mapping[str, Unroll], free: Container[str], knobs: Knobs, platform: Platform
) -> None:
    """O(operations) for each step that is taken, in C++ (core/deal.h), which asks for what it has to know of steps."""
    together = tuple([tuple(unroll.ops) for unroll in unrolls.values()])
    structure = _structure(Same(graph), together, knobs.stream_width, knobs.order, platform)
    loading = _loading(graph, unrolls, knobs, platform)
    given, growths = [knobs.overall_unroll, knobs.rows], list[Growth]()
    for name, unroll in unrolls.items():
        given.append(name in free)
        for op, growth in zip(unroll.ops, unroll.growths, strict=True):
            given += (address(growth.table), address(loading[op]) if op in loading else 0)
            growths.append(growth)
    at, asked, passed = words([unroll.at for unroll in unrolls.values()]), words(zeros(3 * _ASKED)), words(given)
    pointers = (pointer(structure), pointer(passed), c_double(LEAST_WORTH), pointer(at), pointer(asked))
    while count := core().millrace_deal(*pointers, _ASKED):
        for n, step, kind in sorted({*zip(*(asked[k : 3 * count : 3] for k in range(3)), strict=True)}):
            Growth.FOUND[kind](growths[n], step)
    for unroll, step in zip(unrolls.values(), at, strict=True):
        unroll.at = step


@lru_cache(maxsize=1024)
def _structure(
    same: Same[LinalgGraph], together: tuple[tuple[str, ...], ...], width: int, order: LoopOrder, platform: Platform
) -> Words:
    """Who waits for whom, of operations of which some share their lanes, as the core reads it."""
    graph = same.value
    number = {op: n for n, op in enumerate(op for ops in together for op in ops)}
    lanes_of = {op: n for n, ops in enumerate(together) for op in ops}
    followed, floor = followed_products(graph), words_handed_on(graph, platform)
    taken = taken_by_parts(graph) if order == "reduction-outer" else dict[str, str]()
    followers = [set[int]() for _ in together]
    for op in number:
        following = followed.get(op)
        before = () if following is None else (following.product, *following.adders)
        for other in (*before, taken[op]) if op in taken else before:
            followers[lanes_of[other]].add(lanes_of[op])
    found = [row_parts(graph, width).trip, len(together)]
    for ops, behind in zip(together, followers, strict=True):
        found.append(len(ops))
        for op in ops:
            follows = followed.get(op, Following(""))
            waits = op not in floor and (op in followed or op in taken)
            found += (floor.get(op, 0), waits, graph.op[op].reduction is not None)
            found += (number.get(follows.product, _NOBODY), follows.behind, number.get(taken.get(op, ""), _NOBODY))
            found += (len(follows.adders), *[number[adder] for adder in follows.adders])
        found += (len(behind), *sorted(behind))
    return words(found)


def _loading(
    graph: LinalgGraph, unrolls: Mapping[str, Unroll], knobs: Knobs, platform: Platform
) -> Mapping[str, Words]:
    """By operation outside of layers, and step, cycles in which its weights come through all ports."""
    if knobs.weights != "streamed":
        return {}
    bits, weights = min(knobs.hbm_channels, platform.hbm.kernel_ports) * platform.hbm.port_bits, weights_outside(graph)
    return {
        op: words([loading_cycles(weights[op], factor, bits) for factor in growth.factors])
        for unroll in unrolls.values()
        for op, growth in zip(unroll.ops, unroll.growths, strict=True)
        if op in weights
    }


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
