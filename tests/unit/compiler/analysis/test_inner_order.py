"""Loops inside a tile: producers walk them as their consumers do, so that no converter stands between."""

from dataclasses import replace

from small_graphs import F32_PRODUCT, PASS, elementwise, matmul, row_reduction

from compiler.analysis.inner_order import inner_orders
from compiler.graph.linalg_graph import Body, LinalgGraph, Operand, Output, ScalarOp, Value
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

PLATFORM = load_platform("u55c")
FULL = (0, 1)
DIFFERENCE = Body(("f32", "f32"), (ScalarOp("arith.subf", (0, 1), "f32"),), 2)


def norm() -> LinalgGraph:
    """x -> row sum; x - sum -> row maximum: what a normalisation does, and a product behind it."""
    return LinalgGraph(
        "norm",
        (
            Value("x", (16, 32), "f32", "input", "x"),
            Value("s", (16,), "f32"),
            Value("c", (16, 32), "f32"),
            Value("m", (16,), "f32"),
            Value("w", (32, 8), "f32", "param", "w"),
            Value("y", (16, 8), "f32"),
        ),
        (
            row_reduction("sum", 16, 32, "x", "s"),
            elementwise("centre", (16, 32), (Operand("x", FULL), Operand("s", (0,))), "c", DIFFERENCE),
            row_reduction("max", 16, 32, "c", "m", "max", float("-inf")),
            matmul("product", 16, 32, 8, "c", "w", "y", F32_PRODUCT),
        ),
        (Output("m", "m", (0,), (16,)), Output("y", "y", FULL, (16, 8))),
    )


def test_what_is_reduced_comes_first_back_to_the_source() -> None:
    orders = inner_orders(norm())
    assert orders["sum"] == (1, 0)
    assert orders["max"] == (1, 0)
    assert orders["centre"] == (1, 0), "its reader reduces over d1"
    assert orders["product"] == (2, 0, 1), "a contraction has its own reductions first"


def test_what_nobody_reduces_keeps_the_order_of_its_input() -> None:
    graph = norm()
    after = elementwise("after", (16, 32), (Operand("c", FULL),), "z", PASS)
    graph = replace(graph, values=(*graph.values, Value("z", (16, 32), "f32")), ops=(*graph.ops, after))
    assert inner_orders(graph)["after"] == (1, 0)
    turned = replace(after, inputs=(Operand("c", (1, 0)),), loops=(32, 16))
    graph = replace(graph, ops=(*graph.ops[:-1], turned))
    assert inner_orders(graph)["after"] == (0, 1), "d0 walks what d1 of the producer walked"


def test_no_converter_stands_before_a_reduction() -> None:
    tasks = planned_tasks(norm(), Knobs(default_tile_size=8, overall_unroll=4), PLATFORM)
    converters = {t.name for t in tasks.tasks if t.kind == "converter"}
    assert converters == {"convert_s_to_centre_in1"}, "only the row's sum is read again and again"
