"""Chains of row-wise tasks that run one after the other get more lanes, together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest
from networks import NETWORKS
from small_graphs import F32_PRODUCT, elementwise, matmul, row_reduction

from compiler.analysis.estimate import estimate
from compiler.analysis.growth import Part, share_of
from compiler.analysis.operators import run_cycles
from compiler.analysis.tiling import sharing
from compiler.analysis.widen_rows import CHAIN_WORTH, EXTRA, doubled, row_chains, serial_cycles, widen_rows
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.task_graph import StructuredTask
from compiler.options import Knobs, TaskOverride, Unrolling
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform

PLATFORM = load_platform("u55c")
FULL = (0, 1)
DIFFERENCE = Body(("f32", "f32"), (ScalarOp("arith.subf", (0, 1), "f32"),), 2)


def norm(rows: int) -> LinalgGraph:
    """x minus its row's sum, then a product: the chain runs before the product may start."""
    return LinalgGraph(
        "norm",
        (
            Value("x", (rows, 64), "f32", "input", "x"),
            Value("s", (rows,), "f32"),
            Value("c", (rows, 64), "f32"),
            Value("w", (64, 64), "f32", "param", "w"),
            Value("y", (rows, 64), "f32"),
        ),
        (
            row_reduction("sum", rows, 64, "x", "s"),
            elementwise("centre", (rows, 64), (Operand("x", FULL), Operand("s", (0,))), "c", DIFFERENCE),
            matmul("product", rows, 64, 64, "c", "w", "y", F32_PRODUCT),
        ),
        (Output("y", "y", FULL, (rows, 64)),),
    )


def lanes(graph: LinalgGraph, knobs: Knobs) -> dict[str, int]:
    tasks = planned_tasks(graph, knobs, PLATFORM)
    return {t.name: t.nest.lanes for t in tasks.tasks if isinstance(t, StructuredTask)}


def parts_of(graph: LinalgGraph, knobs: Knobs) -> dict[str, Part]:
    return {part.op.name: part for shared in sharing(graph, knobs, PLATFORM) for part in shared}


# The product has all lanes, so the heap leaves the chain at one.
KNOBS = Knobs(overall_unroll=16, overrides=(TaskOverride("product", unroll=16),))


def test_a_single_row_waits_for_its_sum_so_the_chain_is_widened() -> None:
    widened = lanes(norm(1), KNOBS)
    assert widened["sum"] == widened["centre"] > 1
    assert widened["sum"] + widened["centre"] <= 2 + KNOBS.overall_unroll // 4
    assert widened["product"] == 16


def test_what_has_a_choice_of_its_own_is_left_alone() -> None:
    chosen = KNOBS.with_override(TaskOverride("centre", unroll=1))
    assert lanes(norm(1), chosen)["centre"] == 1


def test_rows_that_follow_each_other_hide_the_chain() -> None:
    graph = norm(64)
    nests = {
        "sum": Nest((NestLoop(0, 64, 1), NestLoop(1, 64, 1)), (1, 1)),
        "centre": Nest((NestLoop(0, 64, 1), NestLoop(1, 64, 1)), (1, 1)),
        "product": Nest((NestLoop(0, 64, 1), NestLoop(1, 64, 1), NestLoop(2, 64, 1)), (1, 1, 1)),
    }
    assert widen_rows(graph, nests, parts_of(graph, Knobs()), Knobs(), PLATFORM) == nests


def test_chains_end_at_products() -> None:
    graph = norm(1)
    (chain,) = row_chains(graph, Knobs())
    assert [op.name for op in chain] == ["sum", "centre"]


def test_serial_cycles_count_the_adder_s_latency_and_the_rounds() -> None:
    graph = norm(4)
    chain = graph.ops[:2]
    row = Nest((NestLoop(0, 4, 1), NestLoop(1, 64, 1)), (1, 1))
    assert serial_cycles(graph, chain, {"sum": row, "centre": row}, PLATFORM) == (4 * 64 * 7 + 4 * 64) / 4
    spatial = Nest((NestLoop(0, 4, 1),), (1, 64))
    assert serial_cycles(graph, chain, {"sum": spatial, "centre": spatial}, PLATFORM) == 0.0, (
        "nothing reduces over time"
    )


def test_latency_gets_better_for_a_single_row() -> None:
    one_lane = KNOBS.with_override(TaskOverride("sum", unroll=1)).with_override(TaskOverride("centre", unroll=1))
    graph = norm(1)
    wide, narrow = (estimate(planned_tasks(graph, k, PLATFORM), PLATFORM).latency_us for k in (KNOBS, one_lane))
    assert wide < narrow


WORTH = Knobs(default_tile_size=64, overall_unroll=4096, stream_width=1024, unrolling="worth")


def single_lanes(graph: LinalgGraph, product: int = 1) -> dict[str, Nest]:
    """Every loop one after the other, in order; the innermost of a product with `product` lanes."""
    nests = dict[str, Nest]()
    for op in graph.ops:
        unroll = [1] * len(op.loops)
        unroll[-1] = product if op.is_contraction else 1
        loops = (NestLoop(d, n // unroll[d], unroll[d]) for d, n in enumerate(op.loops) if n > unroll[d])
        nests[op.name] = Nest(tuple(loops), tuple(unroll))
    return nests


def test_fewer_lanes_are_worth_it_where_rows_hide_a_chain() -> None:
    """A product of one row waits for the whole chain; one of many only for the first of them."""
    found = [
        widen_rows(norm(rows), single_lanes(norm(rows), 64), parts_of(norm(rows), WORTH), WORTH, PLATFORM)
        for rows in (1, 16384)
    ]
    assert found[0]["centre"].lanes > 1
    assert found[1] == single_lanes(norm(16384), 64)


def small_board(part: int) -> Platform:
    """With one of `part` of the card's LUTs and DSPs, of which lanes are a larger share."""
    budget = replace(PLATFORM.budget, lut=PLATFORM.budget.lut // part, dsp=PLATFORM.budget.dsp // part)
    return replace(PLATFORM, budget=budget)


@pytest.mark.parametrize("part", [1, *(round(10 * 1.25**n) for n in range(20))])
@pytest.mark.parametrize("lanes", [32, 4096])
@pytest.mark.parametrize("product", [1, 16])
@pytest.mark.parametrize("name", ["layer_norm", "attention"])
def test_chains_are_widened_as_a_slow_rule_widens_them(name: str, product: int, lanes: int, part: int) -> None:
    graph, knobs, board = NETWORKS[name]().graph(), replace(WORTH, overall_unroll=lanes), small_board(part)
    nests = single_lanes(graph, product)
    expected = widened_slowly(graph, nests, knobs, board)
    assert widen_rows(graph, nests, parts_of(graph, knobs), knobs, board) == expected


@pytest.mark.parametrize(("columns", "most"), [(1, 1), (4, 4), (16, 16)])
def test_what_takes_results_as_they_come_needs_no_more_lanes_than_these_have(columns: int, most: int) -> None:
    """The largest of a product's row, while a scaled copy of the product passes: as many at once as come at once."""
    scaled = elementwise("scaled", (1, 64), (Operand("p", FULL), Operand("p", FULL)), "q", DIFFERENCE)
    graph = LinalgGraph(
        "largest",
        (
            Value("x", (1, 64), "f32", "input", "x"),
            Value("w", (64, 64), "f32", "param", "w"),
            *(Value(name, (1, 64), "f32") for name in ("p", "q")),
            Value("s", (1,), "f32"),
        ),
        (matmul("product", 1, 64, 64, "x", "w", "p"), scaled, row_reduction("sum", 1, 64, "q", "s")),
        (Output("s", "s", (0,), (1,)),),
    )
    knobs = Knobs(overall_unroll=1024, stream_width=2048, unrolling="worth")
    parts, single = parts_of(graph, knobs), single_lanes(graph)
    nests = {**single, "product": Nest(single["product"].loops, (1, columns, 1))}
    made = widen_rows(graph, nests, parts, knobs, PLATFORM)
    assert max(made[name].lanes for name in ("scaled", "sum")) <= most


def test_the_paper_s_rule_does_not_ask_what_lanes_cost() -> None:
    graph, nests = norm(1), single_lanes(norm(1), product=16)
    found = {
        (part, rule): widen_rows(
            graph, nests, parts_of(graph, WORTH), replace(WORTH, unrolling=rule), small_board(part)
        )["centre"].lanes
        for part in (1, 1000)
        for rule in get_args(Unrolling)
    }
    assert found[1, "slowest"] == found[1000, "slowest"] > 1
    assert found[1, "worth"] > found[1000, "worth"] == 1


def doubled_chain(
    graph: LinalgGraph, chain: Sequence[LinalgOp], nests: dict[str, Nest], knobs: Knobs
) -> dict[str, Nest] | None:
    rank = max(len(op.loops) for op in chain)
    made = {op.name: doubled(graph, op, nests[op.name], knobs.stream_width) for op in chain if len(op.loops) == rank}
    return None if None in made.values() else nests | {name: nest for name, nest in made.items() if nest is not None}


def widened_slowly(graph: LinalgGraph, nests: dict[str, Nest], knobs: Knobs, platform: Platform) -> dict[str, Nest]:
    """Works everything out anew before each step."""
    parts, begun = parts_of(graph, knobs), nests
    chains = list(row_chains(graph, knobs))

    def share(nests: dict[str, Nest]) -> float:
        return sum(share_of(part, nests[name], platform) for name, part in parts.items())

    def time(nests: dict[str, Nest]) -> float:
        serial = sum(serial_cycles(graph, chain, nests, platform) for chain in row_chains(graph, knobs))
        products = (op for op in graph.ops if op.is_contraction)
        return serial + sum(run_cycles(op, nests[op.name], platform) * graph.runs_of(op.name) for op in products)

    while True:
        offers = list[tuple[float, dict[str, Nest], Sequence[LinalgOp]]]()
        for chain in chains:
            if (later := doubled_chain(graph, chain, nests, knobs)) is not None:
                offers.append(((time(nests) - time(later)) / (share(later) - share(nests)), later, chain))
        worth, best, chain = max(offers, key=lambda offer: round(offer[0], 6), default=(0.0, nests, ()))
        if worth <= 0 or worth < CHAIN_WORTH * time(nests):
            return nests
        if sum(best[name].lanes - begun[name].lanes for name in nests) > int(knobs.overall_unroll * EXTRA):
            chains.remove(chain)
        else:
            nests = best


def test_a_chain_that_nothing_makes_shorter_stays() -> None:
    """And the search for something to widen ends."""
    graph = norm(4)
    alone = replace(graph, ops=graph.ops[:2], values=graph.values[:3], outputs=(Output("c", "c", FULL, (4, 64)),))
    spatial = Nest((NestLoop(0, 4, 1),), (1, 64))
    nests = {"sum": spatial, "centre": spatial}
    assert widen_rows(alone, nests, parts_of(alone, WORTH), WORTH, PLATFORM) == nests
