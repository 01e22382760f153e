"""How long a task runs is one rule: the heap that gives lanes, the widened chains and the task itself agree."""

import pytest
from small_graphs import row_reduction, softmax

from compiler.analysis.operators import run_cycles
from compiler.analysis.tiling import plan_nests
from compiler.analysis.widen_rows import serial_cycles
from compiler.graph.linalg_graph import LinalgGraph, Output, Value
from compiler.graph.task_graph import ComputeTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

PLATFORM = load_platform("u55c")
ROWS, COLUMNS = 1, 64


def two_reductions() -> LinalgGraph:
    """The largest and the sum of each row of a tensor; the first comes first in every order of names."""
    return LinalgGraph(
        "both",
        (
            Value("x", (ROWS, COLUMNS), "f32", "input", "x"),
            Value("m", (ROWS,), "f32"),
            Value("s", (ROWS,), "f32"),
        ),
        (
            row_reduction("largest", ROWS, COLUMNS, "x", "m", "max", float("-inf")),
            row_reduction("sum", ROWS, COLUMNS, "x", "s"),
        ),
        (Output("m", "m", (0,), (ROWS,)), Output("s", "s", (0,), (ROWS,))),
    )


def test_the_heap_knows_that_a_comparison_is_quicker_than_an_addition() -> None:
    # One lane more than the two tasks have: an update of the sum takes 7 cycles, one of the largest takes 2.
    nests = plan_nests(two_reductions(), Knobs(overall_unroll=3), PLATFORM)
    assert (nests["largest"].lanes, nests["sum"].lanes) == (1, 2)


def test_a_chain_waits_for_its_largest_too() -> None:
    graph = softmax(ROWS, COLUMNS)
    nests = plan_nests(graph, Knobs(overall_unroll=4), PLATFORM)
    largest, quick = graph.op["max"], PLATFORM.operators["fcmp"].latency
    assert nests["max"].lanes == 1
    assert serial_cycles(graph, [largest], nests, PLATFORM) == COLUMNS * quick


@pytest.mark.parametrize("unroll", [1, 4, 16, 64])
def test_it_is_what_the_task_takes(unroll: int) -> None:
    graph = softmax(8, COLUMNS)
    for task in planned_tasks(graph, Knobs(overall_unroll=unroll), PLATFORM).tasks:
        if isinstance(task, ComputeTask):
            timing = task.timing
            assert run_cycles(task.op, task.nest, PLATFORM) == timing.iterations * timing.ii
