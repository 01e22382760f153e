"""The index of the largest element: what torch-mlir makes of argmax, and the keys that order as numbers do."""

from collections.abc import Sequence

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import UnsupportedError
from compiler.frontend.interpret import Array, evaluate_body, interpret, outputs_of
from compiler.frontend.lowering.argmax import KEY, index_bits, index_of, key_of
from compiler.frontend.lowering.lower import lower
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import LinalgGraph

# linalg of torch.argmax(x, 1), as torch-mlir writes it.
ARGMAX = """
func.func @main(%x: tensor<3x{columns}xf32>) -> tensor<3xi64> {{
  %zero = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xi64>
  %f = tensor.empty() : tensor<3xf32>
  %i = linalg.generic {{indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]}} ins(%zero : i64) outs(%e : tensor<3xi64>) {{
    ^bb0(%a: i64, %o: i64): linalg.yield %a : i64 }} -> tensor<3xi64>
  %m = linalg.generic {{indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]}} ins(%low : f32) outs(%f : tensor<3xf32>) {{
    ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 }} -> tensor<3xf32>
  %r:2 = "linalg.generic"(%x, %m, %i) <{{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
    affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>,
    #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 2>}}> ({{
    ^bb0(%a: f32, %best: f32, %at: i64):
      %index = "linalg.index"() <{{dim = {loop} : i64}}> : () -> index
      %here = "arith.index_cast"(%index) : (index) -> i64
      %larger = arith.{combine} %a, %best : f32
      %above = arith.cmpf {predicate}, %a, %best : f32
      %where = arith.select %above, %here, %at : i64
      "linalg.yield"(%larger, %where) : (f32, i64) -> ()
  }}) : (tensor<3x{columns}xf32>, tensor<3xf32>, tensor<3xi64>) -> (tensor<3xf32>, tensor<3xi64>)
  func.return %r#1 : tensor<3xi64>
}}
"""


def lowered(columns: int = 7, loop: int = 1, combine: str = "maximumf", predicate: str = "ogt") -> LinalgGraph:
    text = ARGMAX.format(columns=columns, loop=loop, combine=combine, predicate=predicate)
    return lower("test", text, [Argument("x", "input")], ["token"])


def test_it_is_one_reduction_and_what_reads_the_index() -> None:
    graph = lowered()
    key, index = graph.ops
    assert [(key.loops, key.iterators), (index.loops, index.iterators)] == [
        ((3, 7), ("parallel", "reduction")), ((3,), ("parallel",)),
    ]  # fmt: skip
    assert [graph.value[o.outputs[0].value].dtype for o in graph.ops] == ["i64", "i32"]
    x = np.array([[1, 3, 3, -1, 0, 2, 3], [-5, -4, -9, -4, -8, -7, -6], [0] * 7], np.float32)
    assert outputs_of(graph, interpret(graph, {"x": x}))["token"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("combine", "predicate", "loop"),
    [("minimumf", "olt", 1), ("maximumf", "oge", 1), ("maximumf", "olt", 1), ("maximumf", "ogt", 0)],
    ids=["argmin", "the last of equal ones", "the wrong way", "another loop"],
)
def test_what_only_looks_like_it_is_refused(combine: str, predicate: str, loop: int) -> None:
    with pytest.raises(UnsupportedError, match=r"is not supported|does not reduce"):
        lowered(combine=combine, predicate=predicate, loop=loop)


@pytest.mark.parametrize("extent", [1, (1 << 21) + 1])
def test_an_index_has_its_bits(extent: int) -> None:
    with pytest.raises(UnsupportedError, match=f"over {extent} elements; 2 to 2097152 work"):
        index_bits(extent, "head")
    assert [index_bits(n, "head") for n in (2, 13, 16, 17, 50257, 1 << 21)] == [1, 4, 4, 5, 16, 21]


def keys(numbers: Array, loops: Sequence[tuple[int, int]], bits: int) -> Array:
    builder = BodyBuilder()
    body, _ = builder.finish(key_of(builder, builder.arg("f32"), loops, bits))
    return evaluate_body(body, [numbers], numbers.shape)


def indices(of: Array, bits: int) -> Array:
    builder = BodyBuilder()
    body, _ = builder.finish(index_of(builder, builder.arg(KEY), bits))
    return evaluate_body(body, [of])


NUMBERS = st.one_of(
    st.floats(width=32),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-45, -1e-45]),
)


@settings(max_examples=examples(300))
@given(st.lists(NUMBERS, min_size=2, max_size=40), st.integers(0, 5))
def test_the_largest_key_is_that_of_the_first_of_the_largest(numbers: list[float], repeated: int) -> None:
    row = np.array(numbers + numbers[:repeated], np.float32)
    bits = index_bits(len(row), "test")
    made = keys(row, [(0, 1)], bits)
    assert np.array_equal(made.astype(np.float64).astype(np.int64), made)  # the proof computes with doubles
    assert indices(np.max(made), bits) == np.argmax(row)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_not_a_number_is_largest_whatever_its_sign(sign: int) -> None:
    row = np.array([1, np.inf, np.copysign(np.nan, sign), np.nan, -np.nan], np.float32)
    assert indices(np.max(keys(row, [(0, 1)], 3)), 3) == np.argmax(row) == 2


def test_an_index_of_several_loops_counts_the_inner_ones_first() -> None:
    grid = np.zeros((3, 4), np.float32)
    grid[2, 1] = 5
    made = keys(grid, [(0, 4), (1, 1)], 4)
    assert indices(np.max(made), 4) == 9
    assert indices(made, 4).tolist() == np.arange(12).reshape(3, 4).tolist()


def test_loops_that_change_places_take_their_indices_along() -> None:
    builder = BodyBuilder()
    body, _ = builder.finish(builder.emit("arith.subi", (builder.index(0), builder.index(1)), "i32"))
    moved = body.at_loops({0: 1, 1: 0})
    assert np.array_equal(evaluate_body(moved, [], (3, 4)), evaluate_body(body, [], (4, 3)).T)
