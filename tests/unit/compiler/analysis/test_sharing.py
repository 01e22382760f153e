"""Readers of one value that want one stream share a converter: gate and up of a gated MLP, k and v of grouped heads."""

from small_graphs import F32_PRODUCT, PASS, elementwise, matmul

from compiler.graph.linalg_graph import LinalgGraph, Operand, Output, Value
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

PLATFORM = load_platform("u55c")
FULL = (0, 1)


def gated(second: int) -> LinalgGraph:
    """x -> copy -> two products, of 8 and of `second` columns."""
    return LinalgGraph(
        "gated",
        (
            Value("x", (8, 16), "f32", "input", "x"),
            Value("h", (8, 16), "f32"),
            Value("gate.w", (16, 8), "f32", "param", "gate"),
            Value("up.w", (16, second), "f32", "param", "up"),
            Value("g", (8, 8), "f32"),
            Value("u", (8, second), "f32"),
        ),
        (
            elementwise("copy", (8, 16), (Operand("x", FULL),), "h", PASS),
            matmul("gate", 8, 16, 8, "h", "gate.w", "g", F32_PRODUCT),
            matmul("up", 8, 16, second, "h", "up.w", "u", F32_PRODUCT),
        ),
        (Output("g", "g", FULL, (8, 8)), Output("u", "u", FULL, (8, second))),
    )


KNOBS = Knobs(default_tile_size=4, overrides=(TaskOverride("gate", unroll=2), TaskOverride("up", unroll=2)))


def test_one_converter_and_a_fork_behind_it() -> None:
    tasks = planned_tasks(gated(8), KNOBS, PLATFORM)
    tasks.verify()
    behind = [t for t in tasks.tasks if t.kind == "converter" and t.name.startswith("convert_h_")]
    assert [t.name for t in behind] == ["convert_h_to_gate_in0"]
    fork = tasks.task["fork_h_to_gate_in0"]
    assert [a.stream for a in fork.writes] == ["gate_in0", "up_in0"]
    assert "fork_h" not in tasks.task, "nobody else reads h"


def test_other_rereads_need_their_own() -> None:
    tasks = planned_tasks(gated(32), KNOBS, PLATFORM)
    behind = sorted(t.name for t in tasks.tasks if t.kind == "converter" and t.name.startswith("convert_h_"))
    assert behind == ["convert_h_to_gate_in0", "convert_h_to_up_in0"]
    assert "fork_h" in tasks.task
