"""Bodies: sharing, folding, narrowing."""

import pytest

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.scalars import BodyBuilder, narrow
from compiler.frontend.scalar_ops import SCALAR_OPS, is_widening
from compiler.graph.linalg_graph import Body


def finish(builder: BodyBuilder, result: int) -> Body:
    return builder.finish(result)[0]


def test_equal_operations_are_shared_and_dead_ones_dropped() -> None:
    builder = BodyBuilder()
    x, y = builder.arg("f32"), builder.arg("f32")
    builder.emit("math.exp", (y,), "f32")
    total = builder.emit(
        "arith.addf", (builder.emit("math.tanh", (x,), "f32"), builder.emit("math.tanh", (x,), "f32")), "f32"
    )
    body, used = builder.finish(total)
    assert used == (0,)
    assert [op.name for op in body.ops] == ["math.tanh", "arith.addf"]
    assert body.ops[1].args == (1, 1)


@pytest.mark.parametrize(
    ("exponent", "names"),
    [
        (2.0, ["mulf"]), (3.0, ["mulf", "mulf"]), (1.0, []), (0.5, ["sqrt"]), (-0.5, ["rsqrt"]),
        (2.5, ["constant", "powf"]), (-2.0, ["constant", "powf"]),
    ],
)  # fmt: skip
def test_small_powers_are_products(exponent: float, names: list[str]) -> None:
    builder = BodyBuilder()
    x = builder.arg("f32")
    body = finish(builder, builder.emit("math.powf", (x, builder.constant(exponent, "f32")), "f32"))
    assert [op.name.partition(".")[2] for op in body.ops] == names


def test_64_bits_narrow_to_32() -> None:
    builder = BodyBuilder()
    a, b = builder.arg("i8"), builder.arg("i8")
    wide = [builder.emit("arith.extsi", (builder.emit("arith.extsi", (v,), "i32"),), narrow("i64")) for v in (a, b)]
    product = builder.emit("arith.muli", (wide[0], wide[1]), narrow("i64"))
    body = finish(builder, builder.emit("arith.trunci", (product,), "i32"))
    assert [(op.name, op.dtype) for op in body.ops] == [
        ("arith.extsi", "i32"), ("arith.extsi", "i32"), ("arith.muli", "i32"),
    ]  # fmt: skip
    assert body.is_product
    assert not is_widening(body)


def test_f64_constants_become_the_nearest_f32() -> None:
    builder = BodyBuilder()
    x = builder.arg("f32")
    small = builder.emit("arith.truncf", (builder.constant(1e-5, narrow("f64")),), "f32")
    body = finish(builder, builder.emit("arith.addf", (x, small), "f32"))
    assert body.ops[0].const == 9.999999747378752e-06


@pytest.mark.parametrize(("predicate", "name"), [("ult", "maximumf"), ("olt", "maximumf"), ("ugt", "minimumf")])
def test_clamps_are_maximum_and_minimum(predicate: str, name: str) -> None:
    builder = BodyBuilder()
    x, bound = builder.arg("f32"), builder.constant(-127.0, "f32")
    below = builder.emit("arith.cmpf", (x, bound), "i1", predicate)
    body = finish(builder, builder.emit("arith.select", (below, bound, x), "f32"))
    assert [op.name for op in body.ops] == ["arith.constant", f"arith.{name}"]


def test_negative_zero_is_not_zero() -> None:
    builder = BodyBuilder()
    zero, negative = builder.constant(0.0, "f32"), builder.constant(-0.0, "f32")
    assert zero != negative


@pytest.mark.parametrize(
    ("name", "predicate", "dtype"),
    [("math.sin", None, "f32"), ("arith.cmpi", "ult", "i1"), ("arith.cmpf", "ord", "i1"), ("arith.addf", None, "bf16")],
)
def test_unknown_operations_are_refused(name: str, predicate: str | None, dtype: str) -> None:
    builder = BodyBuilder()
    args = tuple(builder.arg("f32") for _ in range(SCALAR_OPS.get(name, 1)))
    with pytest.raises(UnsupportedError, match="is not supported"):
        builder.finish(builder.emit(name, args, dtype, predicate))
