"""Two products a DSP are counted where they are emitted, and nowhere else."""

from dataclasses import replace

import pytest
from networks import NETWORKS
from small_graphs import chain, quantised

from compiler.analysis.operators import PACKED
from compiler.graph.linalg_graph import Reduction
from compiler.graph.task_graph import ComputeTask, TaskGraph
from compiler.options import Knobs, Multiplier, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.hls_code import tasks_source
from compiler.targets.interface import plan_interface

U55C = load_platform("u55c")


def built(multiplier: Multiplier, unroll: int = 256, tile: int = 16) -> tuple[TaskGraph, str]:
    graph = NETWORKS["quantised"]().graph()
    tasks = planned_tasks(graph, Knobs(multiplier=multiplier, overall_unroll=unroll, default_tile_size=tile), U55C)
    return tasks, tasks_source(tasks, plan_interface(tasks, graph))


def product(tasks: TaskGraph) -> ComputeTask:
    task = tasks.task["op_acc"]
    assert isinstance(task, ComputeTask)
    return task


def products(tasks: TaskGraph) -> dict[str, int]:
    return {core: n for core, n in product(tasks).operators if core.startswith("imul")}


def test_half_the_dsps() -> None:
    tasks, text = built("dsp_packed")
    plain, plain_text = built("dsp")
    lanes = products(plain)["imul_8x4_dsp"]
    assert products(tasks) == {"imul_8x4_dsp_summed": lanes // 2}
    assert text.count("= pair2(") == text.count("split2(") == 1
    assert '#include "mul2.h"' in text
    assert "mul2" not in plain_text


@pytest.mark.parametrize(("lanes", "each"), [(4, 4), (7, 7), (8, 4), (11, 1), (12, 6), (14, 7), (16, 4)])
def test_no_more_pairs_are_summed_than_fit_their_field(lanes: int, each: int) -> None:
    """Eight products of the smallest int8 by itself are 2^17, which a field of 18 bits does not hold. An adder for each
    sum of two pairs, one to take a pair apart, and one for each part of a result but the first.
    """
    graph = quantised(rows=1, inner=lanes, columns=16)
    wide = tuple(replace(v, dtype="i8") if v.dtype == "i4" else v for v in graph.values)
    ops = tuple(
        replace(op, body=replace(op.body, arg_dtypes=("i8", "i8"))) if op.is_contraction and op.body else op
        for op in graph.ops
    )
    graph = replace(graph, values=wide, ops=ops)
    override = TaskOverride("product", tile=lanes, unroll=2 * lanes)
    tasks = planned_tasks(graph, Knobs(multiplier="dsp_packed", overrides=(override,), max_padding=0), U55C)
    task = tasks.task["product"]
    assert isinstance(task, ComputeTask)
    assert task.nest.unroll == (1, 2, lanes)
    parts = lanes // each
    if each == 1:
        assert dict(task.operators) == {"imul_8x8_dsp_packed": lanes, "iadd": 2 * lanes - 2}
        return
    assert dict(task.operators) == {"imul_8x8_dsp_summed": lanes, "iadd_pair": lanes - parts, "iadd": 3 * parts - 2}
    text = tasks_source(tasks, plan_interface(tasks, graph))
    assert ("reduce_tree<Add>(product" in text) == (parts > 1)


@pytest.mark.parametrize(("unroll", "tile"), [(1, 16), (8, 1), (256, 5)])
def test_lanes_that_do_not_come_in_pairs_are_plain_dsps(unroll: int, tile: int) -> None:
    tasks, text = built("dsp_packed", unroll, tile)
    packed = any(core.endswith(PACKED) for core in products(tasks))
    assert packed == ("pair2(" in text)
    if not packed:
        assert products(tasks) == {"imul_8x4_dsp": product(tasks).nest.lanes}
        assert "impl=dsp" in text


def test_packed_products_are_combined_as_the_reduction_says() -> None:
    graph = quantised()
    largest = replace(graph.op["product"], reduction=Reduction("max", -(2**31)))
    graph = replace(graph, ops=(largest, *graph.ops[1:]))
    override = TaskOverride("product", tile=32, unroll=32 * 16 * 4)
    tasks = planned_tasks(graph, Knobs(multiplier="dsp_packed", overrides=(override,), stream_width=4096), U55C)
    text = tasks_source(tasks, plan_interface(tasks, graph))
    assert "mul2(" in text
    assert "reduce_tree<Maximum>" in text
    assert "reduce_tree<Add>" not in text


@pytest.mark.parametrize(
    ("multiplier", "adder"), [("fabric", "fadd"), ("dsp", "fadd_fabric"), ("dsp_packed", "fadd_fabric")]
)
def test_sums_of_float_products_leave_dsps_to_products(multiplier: Multiplier, adder: str) -> None:
    graph = chain(16, 32, 24)
    lanes = tuple(TaskOverride(op.name, unroll=16) for op in graph.ops)
    tasks = planned_tasks(graph, Knobs(multiplier=multiplier, overrides=lanes), U55C)
    text = tasks_source(tasks, plan_interface(tasks, graph))
    computes = [task for task in tasks.tasks if isinstance(task, ComputeTask)]
    assert [dict(task.operators) for task in computes] == [{"fmul": 16, adder: 16}] * 2
    in_fabric = 2 * (adder == "fadd_fabric")
    assert text.count("impl=fabric") == text.count("reduce_tree<AddInFabric>") == in_fabric
