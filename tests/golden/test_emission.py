"""What is emitted, construct by construct. `--update-golden` writes the files anew; then read them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from layered_networks import folded_layers
from looped_pipelines import begun, engine, following, layers
from networks import NETWORKS
from route_designs import routes
from small_graphs import elementwise
from stepping_networks import replying
from through_memory import credited, network
from window_networks import greatest, larger

from compiler.analysis.operators import DSP_PRODUCT
from compiler.analysis.tasks import load_task, plan_packing, store_task
from compiler.frontend.integers.affine import Affine
from compiler.frontend.integers.fixed_point import fixed_point
from compiler.graph.design import Transfer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph, Operand, Output, Value
from compiler.graph.program import Argument, BoundLoop
from compiler.graph.task_graph import ComputeTask, Stream, Task, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.network import Network
from compiler.targets import hls_code, hls_config, link_config
from compiler.targets.interface import Interface, plan_interface
from compiler.targets.tasks.control import emit_control
from compiler.targets.tasks.emitter import TaskEmitter
from compiler.targets.testbench import tb_source
from compiler.targets.writer import CppWriter

U55C = load_platform("u55c")
HERE = Path(__file__).parent
Golden = Callable[[str, Path], None]

PLAIN = Knobs()
WHOLE = Knobs(overrides=(TaskOverride("op_y", order=(0, 1, 2)),))
OUTER = Knobs(order="reduction-outer", default_tile_size=8, overall_unroll=64, multiplier="dsp")
SINGLE = Knobs(default_tile_size=256, overall_unroll=1)
SPLIT = Knobs(fusion_budget=0, default_tile_size=8, overall_unroll=16, hbm_channels=2)


def design(network: str, knobs: Knobs) -> tuple[TaskGraph, Interface]:
    graph = NETWORKS[network]().graph()
    tasks = planned_tasks(graph, knobs, U55C)
    return tasks, plan_interface(tasks, graph)


def task_text(task: Task, tasks: TaskGraph) -> str:
    out = CppWriter()
    TaskEmitter(tasks, out).emit(task, task.name)
    return out.text()


@pytest.mark.parametrize(
    ("construct", "network", "knobs", "task"),
    [
        ("elementwise", "mlp", PLAIN, "op_g"),
        ("contraction", "mlp", WHOLE, "op_y"),
        ("contraction_integer_dsp", "quantised", OUTER, "op_acc"),
        ("contraction_two_products_a_dsp", "quantised", Knobs(multiplier="dsp_packed"), "op_acc"),
        ("quantise", "quantised", PLAIN, "op_q"),
        ("reduction_max", "softmax", PLAIN, "op_m"),
        ("reduction_argmax", "argmax", PLAIN, "op_key"),
        ("mask", "softmax", PLAIN, "op_s"),
        ("scalar_by_value", "layer_norm", PLAIN, "op_y"),
        (
            "accumulators_in_memory",
            "mlp",
            Knobs(default_tile_size=48, overall_unroll=1, order="reduction-outer"),
            "op_h",
        ),
        ("fork", "softmax", PLAIN, "fork_s"),
        ("chunk", "attention", PLAIN, "split"),
        ("concat", "attention", PLAIN, "append"),
        ("converter_ping_pong", "mlp", PLAIN, "convert_h_to_op_g_in0"),
        ("converter_fill_then_drain", "mlp", WHOLE, "convert_g_to_op_y_in0"),
        ("rom", "quantised", Knobs(weights="resident"), "load_w"),
        ("rom_single_elements", "mlp", replace(SINGLE, weights="resident"), "load_w"),
        ("load_again", "mlp", PLAIN, "load_x"),
        ("load_single_elements", "mlp", SINGLE, "load_w"),
        ("store_partial_word", "layer_norm", SINGLE, "store_y"),
    ],
)
def test_task(construct: str, network: str, knobs: Knobs, task: str, golden: Golden) -> None:
    tasks, _ = design(network, knobs)
    golden(task_text(tasks.task[task], tasks), HERE / f"{construct}.cpp")


def test_fixed_point(golden: Golden) -> None:
    """Sums of three channels, each with a multiplier of its own, of numbers that one DSP multiplies."""
    made = Affine({0: np.asarray([1, 2, 3]) / 2**9, 1: np.asarray(1 / 2**6)}, np.zeros(()))
    fixed = fixed_point(made, {0: "i32", 1: "i8"}, {0: np.asarray(1e4), 1: np.asarray(127.0)}, 0.5)
    assert fixed is not None
    values = [Value(n, (3,), "i8" if n == "residual" else "i32", "input", n) for n in ("total", "residual", "factor")]
    values.append(Value("y", (3,), "i8"))
    op = elementwise("op_y", (3,), [Operand(value.name, (0,)) for value in values[:3]], "y", fixed.body)
    graph = LinalgGraph("net", tuple(values), (op,), (Output("y", "y", (0,), (3,)),))
    tasks = planned_tasks(graph, PLAIN, U55C)
    task = tasks.task["op_y"]
    assert isinstance(task, ComputeTask)
    assert dict(task.operators)[DSP_PRODUCT] == 2 * task.nest.lanes
    golden(task_text(task, tasks), HERE / "fixed_point.cpp")


@pytest.mark.parametrize(
    ("construct", "graph", "lanes", "task"),
    [
        ("window_of_lines", greatest(8, 4, kernel=3, stride=2, padding=1), 1, "rows"),
        ("window_of_pixels", greatest(8, 4, kernel=3, stride=2, padding=1), 64, "pixels"),
        ("window_of_lines_left_over", greatest(9, 4, kernel=3, stride=2, padding=1), 1, "pixels"),
        ("window_of_lines_that_repeat", larger(8, 4, 2), 1, "rows"),
    ],
)
def test_windows(construct: str, graph: LinalgGraph, lanes: int, task: str, golden: Golden) -> None:
    tasks = planned_tasks(graph, Knobs(overall_unroll=lanes), U55C)
    golden(task_text(tasks.task[task], tasks), HERE / f"{construct}.cpp")


def test_transfer_of_tokens_wider_than_a_word(golden: Golden) -> None:
    layout = ITensor((8, 20), "f32", (Loop(3, 8, 0),))
    transfer = Transfer("v", 0, layout, plan_packing(layout, 2, U55C.hbm.port_bits))
    load = load_task("load_v", transfer, "s", U55C)
    store = store_task("store_v", transfer._replace(kernel=1), "s", U55C)
    tasks = TaskGraph("wide", 1, (load, store), (Stream("s", "load_v", "store_v", layout),))
    golden("".join(task_text(t, tasks) for t in tasks.tasks), HERE / "wide_tokens.cpp")


def test_tokens_of_three_words_each(golden: Golden) -> None:
    """As many as an argument says: which third a word is, is counted, not divided."""
    layout = ITensor((1, 48), "f32", (Loop(8, 1, 0),))
    transfer = Transfer("v", 0, layout, plan_packing(layout, 1, U55C.hbm.port_bits))
    load = load_task("load_v", transfer, "s", U55C)
    load = replace(load, timing=replace(load.timing, bounds=(BoundLoop(0, Argument("length", 7)),)))
    store = store_task("store_v", transfer._replace(kernel=1), "s", U55C)
    tasks = TaskGraph("thirds", 1, (load, store), (Stream("s", "load_v", "store_v", layout),))
    golden(task_text(load, tasks), HERE / "thirds_of_tokens.cpp")


def test_load_again_of_words_that_come_alone(golden: Golden) -> None:
    """Of 16 tokens each: in one loop, as HLS would wait for memory before each burst of an inner one."""
    streamed = ITensor((1,), "f32", (Loop(8, 1, None), Loop(64, 1, 0)))
    transfer = Transfer("v", 0, streamed, plan_packing(streamed, 1, U55C.hbm.port_bits))
    load = load_task("load_v", transfer, "s", U55C)
    store = store_task("store_v", transfer._replace(kernel=1, itensor=streamed.without_rereads()), "s", U55C)
    tasks = TaskGraph("again", 1, (load, store), (Stream("s", "load_v", "store_v", streamed),))
    golden(task_text(load, tasks), HERE / "load_again_alone.cpp")


def test_load_of_several_values(golden: Golden) -> None:
    knobs = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")
    tasks = planned_tasks(folded_layers(3), knobs, U55C)
    golden(task_text(tasks.task["load_engine0_in1"], tasks), HERE / "load_joint.cpp")


@pytest.mark.parametrize(
    ("construct", "make", "task"),
    [
        ("route_layers", lambda: layers(4), "head"),
        ("route_of_turns", lambda: engine(3, 1), "feed"),
        ("route_of_an_argument", lambda: following(16), "score"),
        ("route_that_fills", lambda: begun(3), "third"),
    ],
)
def test_route(construct: str, make: Callable[[], Network], task: str, golden: Golden) -> None:
    graph = routes({"n": make()})
    golden(task_text(graph.task[f"n_{task}"], graph), HERE / f"{construct}.cpp")


def test_memory_behind_credits(golden: Golden) -> None:
    tasks = credited()
    interface = plan_interface(tasks, network().graph())
    texts = [task_text(tasks.task[name], tasks) for name in ("store_k", "load_k")]
    golden("".join((*texts, hls_code.kernels_header(interface))), HERE / "credits.cpp")


def test_chunks_of_a_prompt(golden: Golden) -> None:
    """What starts the tasks, what sends it the tokens, and loads and stores that follow each other row by row."""
    graph = folded(replying(3))
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=16, overall_unroll=16), U55C)
    out = CppWriter()
    emit_control(tasks, out)
    named = ("load_h0_k_past", "store_h0_key", "load_prompt", "store_next", "enter_x", "h0_key")
    golden("".join((*(task_text(tasks.task[name], tasks) for name in named), out.text())), HERE / "prompt_rows.cpp")


def test_rows_of_a_chunk_part_by_part(golden: Golden) -> None:
    """A row follows another when all parts of that are in memory: a credit a row, however many runs move it."""
    graph = folded(replying(3))
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, order="reduction-outer", overall_unroll=16), U55C)
    texts = [task_text(tasks.task[name], tasks) for name in ("load_h0_k_past", "store_h0_key")]
    golden("".join(texts), HERE / "row_parts.cpp")


def test_kernels_and_testbench(golden: Golden) -> None:
    tasks, interface = design("layer_norm", SPLIT)
    tops = [hls_code.kernel_source(k, tasks, interface, U55C) for k in interface.kernels]
    golden("".join(tops), HERE / "kernels.cpp")
    golden(tb_source(interface, 1e-4), HERE / "testbench.cpp")
    golden(hls_code.tasks_header(tasks, interface), HERE / "tasks.h")


def test_configuration_of_the_tools(golden: Golden) -> None:
    _, interface = design("layer_norm", SPLIT)
    golden(hls_config.hls_cfg(interface, interface.kernels[0], U55C), HERE / "hls.cfg")
    golden(hls_config.run_hls_tcl(interface, U55C), HERE / "run_hls.tcl")
    golden(link_config.link_cfg(interface, U55C), HERE / "link.cfg")
