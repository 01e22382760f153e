"""Loops outside a tile: parts that are told apart later are made by turns where their readers begin with the first;
those that are added up are outermost where the adders take turns. A product takes as it comes what another one makes
meanwhile; a sum comes in the order of what comes last.
"""

from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from convolutional_models import bottleneck, lenet5, residual_block
from grouped_products import grouped
from onnx import ModelProto
from onnx_models import mixer, save
from plans import U55C
from small_graphs import attention_front, chain, matmul, mlp

from compiler.analysis.loop_order import loop_orders
from compiler.analysis.tiling import sharing
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import Operand, Value
from compiler.options import Engines, Knobs, LoopOrder, TaskOverride, Workload

PARTS, HEADS, SIZE, SUMMED = range(4)


@pytest.mark.parametrize(
    ("past", "order"),
    [
        (127, (HEADS, SIZE, PARTS, SUMMED)),
        (3, (PARTS, HEADS, SIZE, SUMMED)),  # scores of a head are too few: heads are not told apart
    ],
)
def test_queries_keys_and_values_of_one_head_are_made_before_those_of_the_next(
    past: int, order: tuple[int, ...]
) -> None:
    graph = attention_front(past=past)
    found = loop_orders(graph, Knobs())
    assert found["qkv"] == order
    assert found["split"] == order[:-1]
    chosen = replace(Knobs(), overrides=(TaskOverride("qkv", order=(1, 0)),))
    assert loop_orders(graph, chosen)["qkv"] == (SUMMED, *order[:-1])


@pytest.mark.parametrize(
    ("engines", "order", "outermost", "groups_of_a_tile"),
    [
        ("shared", "reduction-outer", 3, 1),
        ("own", "reduction-outer", 4, 2),  # no turn of others is waited for
        ("shared", "reduction-inner", 0, 2),
    ],
)
def test_groups_are_outermost_where_what_adds_them_up_takes_turns(
    engines: Engines, order: LoopOrder, outermost: int, groups_of_a_tile: int
) -> None:
    knobs = Knobs(default_tile_size=8, engines=engines, order=order)
    walks = {part.op.name: part.walk for parts in sharing(grouped(), knobs, U55C) for part in parts}
    assert [(walks[p].outer[0], walks[p].tile[3]) for p in ("op_p0", "op_p1")] == [(outermost, groups_of_a_tile)] * 2
    assert [walks[d].tile[3] for d in ("op_d0", "op_d1")] == [groups_of_a_tile] * 2


ROW, RESULT, INNER = range(3)
AT_ITS_END, AS_IT_COMES = (ROW, RESULT, INNER), (ROW, INNER, RESULT)


def test_a_product_takes_as_it_comes_what_another_one_makes_meanwhile() -> None:
    """Whose results then come at the end of a row: every second one of several does."""
    found = loop_orders(chain(16, 32, 16, 32, 16), Knobs())
    assert [found[f"m{n}"] for n in range(1, 5)] == [AT_ITS_END, AS_IT_COMES] * 2
    assert loop_orders(mlp(), Knobs())["down"] == AS_IT_COMES, "through what passes it on"


def test_one_behind_sums_that_come_at_the_end_of_a_row_does_not() -> None:
    knobs = replace(Knobs(), overrides=(TaskOverride("m1", order=AS_IT_COMES),))
    found = loop_orders(chain(16, 32, 16, 32), knobs)
    assert [found[f"m{n}"] for n in range(1, 4)] == [AS_IT_COMES, AT_ITS_END, AS_IT_COMES]
    knobs = replace(Knobs(), overrides=(TaskOverride("m2", order=AT_ITS_END),))
    assert loop_orders(chain(16, 32, 16), knobs)["m2"] == AT_ITS_END, "what is chosen by hand stays"


def test_groups_that_are_added_up_are_walked_as_they_come_anyway() -> None:
    """Behind a product whose results are none of groups, too."""
    graph = grouped()
    rows, *inner = graph.value["x"].shape
    product = matmul("m", rows, 16, prod(inner), "given", "w", "x")
    product = replace(
        product,
        loops=(rows, *inner, 16),
        iterators=(*product.iterators[:2], *product.iterators[1:]),
        groups=(0, 1, 1, 2),
        inputs=(Operand("given", (0, 3)), Operand("w", (3, 1, 2))),
        outputs=(Operand("x", (0, 1, 2)),),
    )
    given = (Value("given", (rows, 16), "f32", "input", "given"), Value("w", (16, *inner), "f32", "param", "w"))
    values = tuple(Value("x", v.shape, "f32") if v.name == "x" else v for v in graph.values)
    found = loop_orders(replace(graph, values=(*given, *values), ops=(product, *graph.ops)), Knobs())
    assert [found[name][-1] for name in ("m", "op_p0", "op_p1")] == [3, 4, 4], "sums over a group are inside"


@pytest.mark.parametrize(
    ("name", "made", "meanwhile"),
    [
        ("lenet5", lenet5(), ["fc1.gemm.matmul", "fc3.gemm.matmul"]),  # a pooling gives one result after the other
        ("residual", residual_block(), []),
        ("bottleneck", bottleneck(), ["conv3.conv.matmul"]),  # it reads points
    ],
)
def test_what_windows_hold_back_is_taken_when_a_line_is_there(
    name: str, made: ModelProto, meanwhile: list[str], tmp_path: Path
) -> None:
    source = FileSource(name, save(made, tmp_path / f"{name}.onnx"), "onnx")
    graph = import_model(source, Workload(name, "prefill", 1, "f32"), tmp_path).graph
    found = {op: graph.op[op].iterators[order[-1]] for op, order in loop_orders(graph, Knobs()).items() if order}
    assert [op for op, last in found.items() if graph.op[op].is_contraction and last == "parallel"] == meanwhile


def test_outside_reductions_are_outside_of_rows() -> None:
    found = loop_orders(chain(16, 32, 16), Knobs(order="reduction-outer"))
    assert found["m2"] == (INNER, ROW, RESULT)


def test_a_sum_comes_in_the_order_of_what_comes_last(tmp_path: Path) -> None:
    """Of an MLP-Mixer the first sum comes by channels; the second one, of that and a product of rows, by rows."""
    source = FileSource("mixer", save(mixer(6, 8, 4, 16), tmp_path / "mixer.onnx"), "onnx")
    graph = import_model(source, Workload("mixer", "prefill", 1, "f32"), tmp_path).graph
    found = loop_orders(graph, Knobs())
    assert [found["residual1.add"], found["residual2.add"]] == [(1, 0), (0, 1)]
    add = next(op for op in graph.ops if op.name == "residual2.add")
    swapped = replace(add, inputs=add.inputs[::-1])
    ops = tuple(swapped if op is add else op for op in graph.ops)
    assert loop_orders(replace(graph, ops=ops), Knobs())["residual2.add"] == (0, 1), "whatever is named first"
