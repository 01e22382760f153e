"""Chains of row-wise tasks that run one after the other get more lanes, together."""

from small_graphs import F32_PRODUCT, elementwise, matmul, row_reduction

from compiler.analysis.estimate import estimate
from compiler.analysis.widen_rows import row_chains, serial_cycles, widen_rows
from compiler.graph.linalg_graph import Body, LinalgGraph, Operand, Output, ScalarOp, Value
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.task_graph import StructuredTask
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

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
    assert widen_rows(graph, nests, Knobs(), PLATFORM) == nests


def test_chains_end_at_products() -> None:
    graph = norm(1)
    (chain,) = row_chains(graph, Knobs())
    assert [op.name for op in chain] == ["sum", "centre"]


def test_serial_cycles_count_the_adder_s_latency_and_the_rounds() -> None:
    graph = norm(4)
    chain = graph.ops[:2]
    row = Nest((NestLoop(0, 4, 1), NestLoop(1, 64, 1)), (1, 1))
    assert serial_cycles(chain, {"sum": row, "centre": row}, PLATFORM) == (4 * 64 * 7 + 4 * 64) / 4
    spatial = Nest((NestLoop(0, 4, 1),), (1, 64))
    assert serial_cycles(chain, {"sum": spatial, "centre": spatial}, PLATFORM) == 0.0, "nothing reduces over time"


def test_latency_gets_better_for_a_single_row() -> None:
    one_lane = KNOBS.with_override(TaskOverride("sum", unroll=1)).with_override(TaskOverride("centre", unroll=1))
    graph = norm(1)
    wide, narrow = (estimate(planned_tasks(graph, k, PLATFORM), PLATFORM).latency_us for k in (KNOBS, one_lane))
    assert wide < narrow
