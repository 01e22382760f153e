"""Who grows: the rule that asks what lanes are worth, against one that works everything out anew before each step."""

from collections.abc import Collection
from dataclasses import replace
from math import ceil, inf, prod
from typing import get_args

import pytest
from grouped_products import grouped
from layered_networks import with_outside
from small_graphs import ALL, chain, elementwise, matmul, mlp

from compiler.analysis.followed_products import Following, followed_products
from compiler.analysis.growth import Part, Unroll
from compiler.analysis.lanes import (
    LEAST_WORTH,
    deal_lanes,
    taken_by_parts,
    words_handed_on,
)
from compiler.analysis.operators import count_operators, run_cycles
from compiler.analysis.row_parts import row_parts
from compiler.analysis.tiling import LUT_OF_BIT, LUT_OF_CONVERTED_BIT, plan_nests, sharing
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value
from compiler.graph.nest import Nest
from compiler.options import Engines, Knobs, LoopOrder, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from dse.evaluate import evaluate

U55C = load_platform("u55c")
STEPS_AHEAD = 2  # as core/deal.h has it
PORT_BITS = 512


def squashed(rows: int, summed: int, columns: int) -> LinalgGraph:
    """A product of the hyperbolic tangents of what is given."""
    tanh = Body(("f32",), (ScalarOp("math.tanh", (0,), "f32"),), 1)
    values = (
        Value("x", (rows, summed), "f32", "input", "x"),
        Value("t", (rows, summed), "f32"),
        Value("w", (summed, columns), "f32", "param", "w"),
        Value("y", (rows, columns), "f32"),
    )
    ops = (
        elementwise("squash", (rows, summed), (Operand("x", (0, 1)),), "t", tanh),
        matmul("product", rows, summed, columns, "t", "w", "y"),
    )
    return LinalgGraph("squashed", values, ops, (Output("y", "y", (0, 1), (rows, columns)),))


LAYERS, HEAD = folded(with_outside(8)), folded(with_outside(3, rows=1, vocabulary=256))
assert LAYERS is not None
assert HEAD is not None
GRAPHS = {
    **{name: make() for name, make in ALL.items()},
    "chain": chain(16, 64, 16),
    "wide": mlp(4, 16, 128),
    "layers": LAYERS,
    "head": HEAD,
    "grouped": grouped(),
    "squashed": squashed(16, 64, 64),
}


def test_lanes_that_add_up_parts_keep_up_with_all_products_and_no_more() -> None:
    """All that share them, not the first alone. Who reads sums that come with the last of two parts has twice the
    lanes.
    """
    inner, outer = (_dealt(order) for order in get_args(LoopOrder))
    for place in (inner, outer):
        for adder, product in (("op_d0", "op_p0"), ("op_d1", "op_p1")):
            (adders, n), (products, m) = place[adder], place[product]
            coming = products.growths[m].leaving(products.at)
            assert adders.growths[n].cycles(adders.at) <= coming < adders.growths[n].cycles(adders.at - 1)
    assert [place["op_b"][0].lanes for place in (outer, inner)] == [32, 16]


def _dealt(order: LoopOrder) -> dict[str, tuple[Unroll, int]]:
    """By operation what it grows with, and its place there."""
    knobs = Knobs(8, 1 << 14, stream_width=1024, unrolling="worth", engines="shared", order=order)
    graph = grouped(rows=64)
    unrolls = {unroll.ops[0]: unroll for unroll in _unrolls(graph, knobs)}
    deal_lanes(graph, unrolls, (), knobs, U55C)
    return {op: (unroll, n) for unroll in unrolls.values() for n, op in enumerate(unroll.ops)}


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [16, 256])
@pytest.mark.parametrize(("engines", "rows"), [("own", 1), ("shared", 1), ("shared", 4)])
@pytest.mark.parametrize("name", GRAPHS)
def test_lanes_go_where_a_slow_rule_puts_them(name: str, engines: Engines, rows: int, lanes: int) -> None:
    graph = GRAPHS[name]
    width = 4096 if name == "head" else 1024  # its tokens are wider than a port, so lanes wait for it
    knobs = Knobs(32, lanes, stream_width=width, unrolling="worth", engines=engines, rows=rows)
    knobs = replace(knobs, order="reduction-outer") if name in ("grouped", "squashed") or rows > 1 else knobs
    expected = {unroll.ops[0]: unroll for unroll in _unrolls(graph, knobs)}
    _dealt_slowly(graph, knobs, expected)
    found = {unroll.ops[0]: unroll for unroll in _unrolls(graph, knobs)}
    deal_lanes(graph, found, (), knobs, U55C)
    assert {n: u.lanes for n, u in found.items()} == {n: u.lanes for n, u in expected.items()}


def test_the_last_burst_of_what_adds_up_parts_may_be_there_before_the_product_is_through() -> None:
    """Cycles below zero are divided among rows downwards."""
    overrides = (TaskOverride("op_d0", tile=1, order=(1, 2, 3, 0)), TaskOverride("op_p0", tile=4))
    knobs = Knobs(16, 128, order="reduction-outer", overrides=overrides, engines="shared", unrolling="worth", rows=3)
    expected, found = ({unroll.ops[0]: unroll for unroll in _unrolls(grouped(), knobs)} for _ in range(2))
    _dealt_slowly(grouped(), knobs, expected)
    deal_lanes(grouped(), found, (), knobs, U55C)
    assert {n: u.lanes for n, u in found.items()} == {n: u.lanes for n, u in expected.items()}


def _unrolls(graph: LinalgGraph, knobs: Knobs) -> list[Unroll]:
    return [Unroll(parts, U55C) for parts in sharing(graph, knobs, U55C)]


def _dealt_slowly(graph: LinalgGraph, knobs: Knobs, unrolls: dict[str, Unroll]) -> None:
    parts = {part.op.name: part for shared in sharing(graph, knobs, U55C) for part in shared}
    served = {op for unroll in unrolls.values() for op in unroll.ops if len(unroll.ops) > 1}

    def nests_at(name: str, steps: int) -> dict[str, Nest]:
        unrolls[name].at += steps
        nests = unrolls[name].nests
        unrolls[name].at -= steps
        return nests

    def time(changed: str = "", steps: int = 0, of: Collection[str] | None = None) -> float:
        """Of all that computes, or of some of it."""
        nests = {op: nest for n in unrolls for op, nest in nests_at(n, steps if n == changed else 0).items()}
        followed, words = followed_products(graph), words_handed_on(graph, U55C)
        cycles = {op: _cycles(graph, op, nest, shared=op in served) for op, nest in nests.items()}
        own = {op: left(op, n, followed[op], nests) if op in followed else n for op, n in cycles.items()}
        taken = taken_by_parts(graph) if knobs.order == "reduction-outer" else {}
        several = {op: row_parts(graph, knobs.stream_width).trip for op in followed if followed[op].behind}
        own |= {
            op: _beyond(graph, product, nests[product], own[op], several.get(op, 1) * side_by_side(product))
            for op, product in taken.items()
            if op in own
        }
        counted = own.items() if of is None else [(op, own[op]) for op in of]
        return sum(max(cycles[op], words[op]) if op in words else n for op, n in counted)

    def left(op: str, cycles: int, following: Following, nests: dict[str, Nest]) -> int:
        """Of the cycles of an operation, those for which nothing comes that it follows."""
        coming, bursts, last = (n * graph.runs_of(op) for n in _coming(following, parts, nests))
        if following.behind:
            several = row_parts(graph, knobs.stream_width).trip
            return max(cycles // several, cycles - (coming - coming // several))
        return max(
            0,
            cycles - coming // rows(following, op),
            cycles // (bursts // graph.runs_of(op)) - last // rows(following, op),
        )

    def rows(following: Following, op: str) -> int:
        """Side by side, of the product that it follows, where it is not itself there as often."""
        return side_by_side(following.product) if graph.op[op].reduction is None else 1

    def side_by_side(product: str) -> int:
        (together,) = (unroll.ops for unroll in unrolls.values() if product in unroll.ops)
        return knobs.rows if len(together) > 1 else 1

    while sum(unroll.lanes for unroll in unrolls.values()) < knobs.overall_unroll:
        worths: list[tuple[float, str, int]] = []
        for name, unroll in unrolls.items():
            best = (0.0, name, 0)
            for steps in range(1, 1 + min(STEPS_AHEAD, unroll.left)):
                # What one saves by making its followers wait less is theirs to save.
                saved = time(of=unroll.ops) - time(name, steps, unroll.ops)
                share = _share(parts[name], nests_at(name, steps)[name]) - _share(parts[name], unroll.nests[name])
                if saved > 0 and saved / share > best[0]:
                    best = (saved / share, name, steps)
            worths.append(best)
        worth, name, steps = max(worths, key=lambda found: found[0])
        if steps == 0 or worth < LEAST_WORTH * time():
            return
        unrolls[name].at += steps


def _beyond(graph: LinalgGraph, product: str, nest: Nest, cycles: int, several: int) -> int:
    """Of the cycles of an operation, those in which no product takes part by part what it makes."""
    op = graph.op[product]
    sums = prod(nest.trips[k] for k in nest.reduction_loops(op.iterators))
    taking = run_cycles(op, nest, U55C) * graph.runs_of(product) // several
    return cycles if sums == 1 else max(cycles // sums, cycles - taking)


def _cycles(graph: LinalgGraph, name: str, nest: Nest, *, shared: bool) -> int:
    """Of all runs; where it takes turns its sums may come outermost. Weights outside of layers have one port."""
    op, loading = graph.op[name], 0
    if name in graph.outside and op.is_contraction:
        for read in op.inputs:
            shape = graph.value[read.value].shape
            tokens = prod(n // nest.unroll[d] for n, d in zip(shape, read.dims, strict=True))
            bits = prod(nest.unroll[d] for d in read.dims) * DTYPE_BITS[graph.value[read.value].dtype]
            loading = tokens * ceil(bits / PORT_BITS) if graph.value[read.value].role == "param" else loading
    if shared:
        sums = [loop for loop in nest.loops if op.iterators[loop.dim] == "reduction"]
        nest = replace(nest, loops=(*sums, *(loop for loop in nest.loops if loop not in sums)))
    return max(loading, run_cycles(op, nest, U55C) * graph.runs_of(name))


def _coming(following: Following, parts: dict[str, Part], nests: dict[str, Nest]) -> tuple[int, int, int]:
    """As the results of a product leave, in as much of that time as an adder between gives its own: cycles from the
    first to the last, bursts, and cycles of the last burst.
    """
    nest = nests[following.product]
    coming, bursts = _results(parts[following.product].op, nest)
    for adder in following.adders:
        cycles, bursts = _results(parts[adder].op, nests[adder])
        coming = coming * cycles // prod(nests[adder].trips)
    return coming, bursts, coming - prod(nest.trips) + prod(nest.trips) // bursts


def _results(op: LinalgOp, nest: Nest) -> tuple[int, int]:
    """Iterations from the first result to the last, and runs of iterations without one, by walking all of them."""
    reduced = nest.reduction_loops(op.iterators)
    total, first, bursts, waits = prod(nest.trips), inf, 0, True
    for n in range(total):
        index, rest = dict[int, int](), n
        for k in reversed(range(len(nest.trips))):
            rest, index[k] = divmod(rest, nest.trips[k])
        makes = all(index[k] == nest.trips[k] - 1 for k in reduced)
        first, bursts = min(first, n) if makes else first, bursts + (makes and waits)
        waits = not makes
    return total - int(first), bursts if reduced else total


def _share(part: Part, nest: Nest) -> float:
    lut = dsp = 0.0
    for core, count in count_operators(part.op, nest, part.multiplier, nest.accumulators(part.op.iterators)):
        lut, dsp = lut + U55C.operators[core].lut * count, dsp + U55C.operators[core].dsp * count
    lut += sum(token.luts(nest.unroll) for token in part.tokens)
    return lut / U55C.limit("lut") + dsp / U55C.limit("dsp")


def test_a_token_of_a_product_costs_a_converter_but_for_its_weights() -> None:
    graph = GRAPHS["quantised"]
    [part] = [shared[0] for shared in sharing(graph, Knobs(), U55C) if shared[0].op.is_contraction]
    x, w, y = part.tokens
    values = [graph.value[operand.value] for operand in (*part.op.inputs, *part.op.outputs)]
    bits = [DTYPE_BITS[value.dtype] for value in values]
    assert [x.lut, w.lut, y.lut] == [
        LUT_OF_CONVERTED_BIT * bits[0],
        LUT_OF_BIT * bits[1],
        LUT_OF_CONVERTED_BIT * bits[2],
    ]


def test_what_follows_an_engine_keeps_up_with_rows_side_by_side() -> None:
    """The engine itself is there as often."""
    graph = mlp(64, 64, 64)
    knobs = Knobs(32, 256, stream_width=1024, unrolling="worth", engines="shared", order="reduction-outer")
    one, four = (
        {op: nest.lanes for op, nest in plan_nests(graph, k, U55C).items()} for k in (knobs, replace(knobs, rows=4))
    )
    assert {op: four[op] // one[op] for op in one} == {"up": 1, "act": 2, "down": 1, "add": 2}


def test_what_a_product_takes_part_by_part_is_made_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mlp(64, 64, 64)
    assert taken_by_parts(graph) == {"act": "down"}
    knobs = Knobs(32, 1024, stream_width=1024, unrolling="worth", order="reduction-outer")

    def lanes(graph: LinalgGraph) -> int:
        unrolls = {unroll.ops[0]: unroll for unroll in _unrolls(graph, knobs)}
        deal_lanes(graph, unrolls, (), knobs, U55C)
        return unrolls["act"].lanes

    taken = lanes(graph)
    monkeypatch.setattr("compiler.analysis.lanes.taken_by_parts", lambda _: {})
    assert taken < lanes(replace(graph))


def test_lanes_that_nobody_waits_for_are_not_spent() -> None:
    """The products can not grow beyond their tokens. The paper's heap spends what is left on the others; where it is
    not worth it, the design is as fast and smaller.
    """
    graph, knobs = mlp(4, 256, 1024), Knobs(default_tile_size=64, overall_unroll=4096, stream_width=512)
    worth = Knobs(default_tile_size=64, overall_unroll=4096, stream_width=512, unrolling="worth")
    (slow, large), (quick, small) = (_cycles_and_luts(graph, k) for k in (knobs, worth))
    assert quick < 1.05 * slow
    assert small < 0.8 * large
    planned_tasks(graph, worth, U55C).verify()


def test_what_is_set_by_hand_stays() -> None:
    graph = GRAPHS["wide"]
    name = next(op.name for op in graph.ops if not op.is_contraction and op.kind == "generic")
    for lanes in (1, 8):
        knobs = Knobs(overall_unroll=512, unrolling="worth", overrides=(TaskOverride(name, unroll=lanes),))
        assert plan_nests(graph, knobs, U55C)[name].lanes == lanes


def _cycles_and_luts(graph: LinalgGraph, knobs: Knobs) -> tuple[float, float]:
    metrics = {metric.name: metric.value for metric in evaluate(graph, knobs, U55C).metrics}
    return metrics["cycles"], metrics["lut"]


@pytest.mark.parametrize(
    ("made", "overrides", "lanes"),
    [("y", (TaskOverride("down", order=(0, 1, 2)),), 2), ("y", (), 4), ("x_out", (), 16)],
)
def test_what_is_handed_on_is_made_as_fast_as_a_port_loads_it(
    made: str, overrides: tuple[TaskOverride, ...], lanes: int
) -> None:
    """16 f32 are a word of a port; what nobody loads again need only keep up with its product, or with the last of its
    sums where those of a row come together.
    """
    graph = mlp(rows=128, hidden=512, inner=32)
    graph = replace(graph, outputs=tuple(replace(out, name=made) for out in graph.outputs))
    last = graph.producer[graph.outputs[0].value][0].name
    knobs = Knobs(default_tile_size=16, overall_unroll=256, stream_width=1024, unrolling="worth", overrides=overrides)
    unrolls = {unroll.ops[0]: unroll for unroll in _unrolls(graph, knobs)}
    deal_lanes(graph, unrolls, (), knobs, U55C)
    assert unrolls[last].lanes == lanes
