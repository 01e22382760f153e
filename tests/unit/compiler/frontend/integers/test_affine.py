"""Bodies as sums of multiples, against the bodies themselves; what is none is refused."""

import numpy as np
import pytest

from compiler.frontend.integers.affine import Affine, Bounded, affine_of, constant
from compiler.frontend.interpret import evaluate_body
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import Body


def value_of(made: Affine, arguments: dict[int, float]) -> float:
    """What it says of these arguments, slowly."""
    summed = float(made.constant)
    for term, factor in made.terms.items():
        if isinstance(term, Bounded):
            number = max(term.low, min(term.high, value_of(term.inner, arguments)))
        else:
            number = arguments[term]
        summed += float(factor) * number
    return summed


def select_relu(*, swapped: bool, predicate: str) -> Body:
    """As exporters write it: a comparison, and one of the two."""
    builder = BodyBuilder()
    x, zero = builder.arg("f32"), builder.constant(0.0, "f32")
    condition = builder.emit("arith.cmpf", (x, zero), "i1", predicate)
    chosen = (zero, x) if swapped else (x, zero)
    return builder.finish(builder.emit("arith.select", (condition, *chosen), "f32"))[0]


@pytest.mark.parametrize("predicate", ["ugt", "oge", "olt", "ule"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_selected_one_of_two_is_a_bound(predicate: str, *, swapped: bool) -> None:
    body = select_relu(swapped=swapped, predicate=predicate)
    made = affine_of(body, {0: Affine({0: np.ones(())}, np.zeros(()))})
    assert made is not None
    for x in (-2.5, 0.0, 3.25):
        assert value_of(made, {0: x}) == float(evaluate_body(body, [np.asarray(x, np.float32)]))


def test_sums_products_with_constants_and_bounds() -> None:
    builder = BodyBuilder()
    x, y, bias = builder.arg("f32"), builder.arg("f32"), builder.arg("f32")
    summed = builder.emit("arith.addf", (builder.emit("arith.mulf", (bias, x), "f32"), bias), "f32")
    bounded = builder.emit("arith.minimumf", (summed, builder.constant(6.0, "f32")), "f32")
    less = builder.emit("arith.subf", (builder.emit("arith.negf", (y,), "f32"), bounded), "f32")
    body, _ = builder.finish(builder.emit("arith.divf", (less, builder.constant(4.0, "f32")), "f32"))
    one = {i: Affine({i: np.ones(())}, np.zeros(())) for i in (0, 1)}
    order = {"x": 0, "y": 1, "bias": 2}
    made = affine_of(body, {order["bias"]: constant(0.5), **one})
    assert made is not None
    for x_is, y_is in ((1.0, 2.0), (20.0, -3.0), (-4.0, 0.5)):
        expected = float(evaluate_body(body, [np.asarray(n, np.float32) for n in (x_is, y_is, 0.5)]))
        assert value_of(made, {0: x_is, 1: y_is}) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["arith.mulf", "arith.divf", "math.exp", "arith.maximumf"])
def test_others_are_none(name: str) -> None:
    builder = BodyBuilder()
    x, y = builder.arg("f32"), builder.arg("f32")
    made = builder.emit(name, (x,) if name == "math.exp" else (x, y), "f32")
    body, _ = builder.finish(builder.emit("arith.addf", (made, y), "f32"))
    assert affine_of(body, {i: Affine({i: np.ones(())}, np.zeros(())) for i in (0, 1)}) is None
