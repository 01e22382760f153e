"""The interpreter's own rules: shapes, scalar operations, wrong tensors."""

from math import erf
from typing import Any

import numpy as np
import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.interpret import evaluate_body, evaluate_op, interpret
from compiler.frontend.scalar_ops import SCALAR_OPS
from compiler.graph.linalg_graph import INDEX, NARROW, Body, ScalarOp

FLOATS = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)


@pytest.mark.parametrize("name", sorted(SCALAR_OPS))
def test_every_scalar_operation_has_a_reference(name: str) -> None:
    count = SCALAR_OPS[name]
    integer = (name.endswith("i") and name != "arith.fptosi") or name == NARROW
    dtypes = {"arith.select": ("i1", "f32", "f32"), "arith.sitofp": ("i32",)}
    inputs = dtypes.get(name, ("i32" if integer else "f32",) * count)
    to_integer = integer or name in {"arith.fptosi", "arith.bitcast", INDEX}
    result = "i1" if "cmp" in name else "i32" if to_integer else "f32"
    const = 2 if name == NARROW else 1.0 if count == 0 else None
    op = ScalarOp(name, tuple(range(count)), result, const, "oge" if "cmp" in name else None)
    arrays = [np.abs(FLOATS).astype({"f32": np.float32, "i32": np.int32, "i1": np.bool_}[d]) for d in inputs]
    made = evaluate_body(Body(inputs, (op,), count), arrays, (2, 3))
    assert made.dtype == {"f32": np.float32, "i32": np.int32, "i1": np.bool_}[result]
    assert np.isfinite(made).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("math.roundeven", [-2, -2, 0, 0, 2, 2]),
        ("arith.fptosi", [-2, -1, 0, 0, 1, 2]),
        ("math.erf", [np.float32(erf(x)) for x in FLOATS]),
        ("math.floor", [-3, -2, -1, 0, 1, 2]),
    ],
)
def test_rounding(name: str, expected: list[float]) -> None:
    dtype = "i32" if name == "arith.fptosi" else "f32"
    assert evaluate_body(Body(("f32",), (ScalarOp(name, (0,), dtype),), 1), [FLOATS]).tolist() == expected


def test_compares_of_what_is_no_number_are_those_of_mlir() -> None:
    """Ordered ones do not hold then, unordered ones do: a maximum that is written as a compare passes it on, or not."""
    left, right = np.array([1, 2, 3, np.nan], np.float32), np.full(4, 2, np.float32)
    for relation, holds in {
        "eq": [0, 1, 0],
        "ne": [1, 0, 1],
        "gt": [0, 0, 1],
        "ge": [0, 1, 1],
        "lt": [1, 0, 0],
    }.items():
        for order, of_none in (("o", False), ("u", True)):
            op = ScalarOp("arith.cmpf", (0, 1), "i1", predicate=f"{order}{relation}")
            assert evaluate_body(Body(("f32", "f32"), (op,), 2), [left, right]).tolist() == [*map(bool, holds), of_none]


def test_an_index_is_where_a_loop_is() -> None:
    body = Body((), (ScalarOp(INDEX, (), "i32", 1),), 0)
    assert np.broadcast_to(evaluate_body(body, [], (2, 3)), (2, 3)).tolist() == [[0, 1, 2], [0, 1, 2]]


def test_each_operation_alone_gives_what_the_graph_gives(make_bundle: Any) -> None:
    bundle = make_bundle("decode", "w4a8")
    values = interpret(bundle.graph, bundle.tensors())
    for op in bundle.graph.ops:
        made = evaluate_op(op, bundle.graph, [values[o.value] for o in op.inputs])
        for array, operand in zip(made, op.outputs, strict=True):
            assert array.shape == bundle.graph.value[operand.value].shape
            np.testing.assert_array_equal(array, values[operand.value])


def test_wrong_tensors_are_named(make_bundle: Any) -> None:
    bundle = make_bundle("decode", "f32")
    tensors = dict(bundle.tensors())
    with pytest.raises(InvalidInputError, match=r"tensor 'hidden' is float32\[1, 1, 63\]; value hidden is f32\[64\]"):
        interpret(bundle.graph, {**tensors, "hidden": tensors["hidden"][:, :, :63]})
    with pytest.raises(InvalidInputError, match="float64"):
        interpret(bundle.graph, {**tensors, "hidden": tensors["hidden"].astype(np.float64)})
    del tensors["hidden"]
    with pytest.raises(InvalidInputError, match="has no tensor 'hidden'"):
        interpret(bundle.graph, tensors)
    op = bundle.graph.op["h0.ln_1.mean.sum"]
    with pytest.raises(InvalidInputError, match=r"reads hidden\[64\]; it was given \[32\]"):
        evaluate_op(op, bundle.graph, [np.zeros(32, np.float32)])
