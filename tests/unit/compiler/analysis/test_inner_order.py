"""Loops inside a tile: producers walk them as their consumers do, so that no converter stands between."""

from dataclasses import replace

import numpy as np
from networks import SUM, Network, body
from small_graphs import F32_PRODUCT, PASS, elementwise, matmul, row_reduction

from compiler.analysis.inner_order import inner_orders
from compiler.graph.linalg_graph import Body, LinalgGraph, Operand, Output, Reduction, ScalarOp, Value
from compiler.graph.task_graph import LoadTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

PLATFORM = load_platform("u55c")
FULL = (0, 1)
SUM_I32 = Reduction("add", 0)
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
    assert orders["product"] == (2, 1, 0), "a contraction has its own reductions first, then it holds weights"


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
    assert converters == {"convert_s_to_centre_in1", "convert_c_to_product_in0"}, "what is read again, and nothing else"


def in_groups(rows: int) -> LinalgGraph:
    """Products of int8 and int4 in groups, whose sums are added up behind: the shape of W4A8."""
    network = Network("groups")
    network.tensor("x", np.zeros((rows, 2, 8), np.int8), "i8", "input")
    network.tensor("w", np.zeros((16, 2, 8), np.int8), "i4")
    extended = body(
        ["i8", "i4"], ("arith.extsi", (0,), "i32"), ("arith.extsi", (1,), "i32"), ("arith.muli", (2, 3), "i32")
    )
    network.generic("a", (rows, 16, 2, 8), [("x", "acd"), ("w", "bcd")], "abc", extended, SUM_I32, "i32")
    network.generic("y", (rows, 16, 2), [("a", "abc")], "ab", body(["i32"], ("arith.sitofp", (0,), "f32")), SUM)
    network.result("y", np.zeros((rows, 16)))
    return network.graph()


def test_groups_are_summed_one_after_the_other_and_weights_held_for_all_rows() -> None:
    graph = in_groups(16)
    assert inner_orders(graph)["op_a"] == (2, 3, 1, 0), "groups, what is summed, columns, rows"
    assert inner_orders(graph)["op_y"] == (2, 1, 0), "as its input comes"
    for lanes in (1, 64):
        tasks = planned_tasks(graph, Knobs(default_tile_size=64, overall_unroll=lanes), PLATFORM)
        load = tasks.task["load_w"]
        assert isinstance(load, LoadTask)
        assert load.streamed.rereads == 1, "weights come from memory once"


def attention(heads: int, rows: int, keys: int) -> LinalgGraph:
    """Scores of each head, their softmax's maximum, and the sum of values by them."""
    network = Network("attention")
    for name, length in (("q", rows), ("k", keys), ("v", keys)):
        network.tensor(name, np.zeros((heads, length, 8), np.float32), role="input")
    times = body(["f32", "f32"], ("arith.mulf", (0, 1)))
    minus = body(["f32", "f32"], ("arith.subf", (0, 1)))
    network.generic("s", (heads, rows, keys, 8), [("q", "abd"), ("k", "acd")], "abc", times, SUM)
    network.generic("m", (heads, rows, keys), [("s", "abc")], "ab", PASS, Reduction("max", float("-inf")))
    network.generic("p", (heads, rows, keys), [("s", "abc"), ("m", "ab")], "abc", minus)
    network.generic("y", (heads, rows, 8, keys), [("p", "abd"), ("v", "adc")], "abc", times, SUM)
    network.result("y", np.zeros((heads, rows, 8)))
    return network.graph()


def test_heads_come_one_after_the_other_where_rows_are_enough_for_a_sum() -> None:
    many = inner_orders(attention(4, 64, 16))
    assert [order[0] for order in many.values()] == [0, 0, 0, 0]
    assert many["op_s"] == (0, 2, 3, 1), "keys are reduced behind it"
    few = inner_orders(attention(4, 8, 16))
    assert all(order[0] != 0 for order in few.values()), "neither the scores, nor what is behind them"
    assert few["op_s"] == (2, 3, 0, 1)


def test_own_sums_stay_outside_where_their_points_are_too_few() -> None:
    """A single score a key: its sum would wait for every addition."""
    assert inner_orders(attention(2, 1, 64))["op_s"] == (3, 2, 0, 1)
