"""Rewritten, an ONNX network computes what it did, by operators that stream."""

from typing import Any, cast

import numpy as np
import pytest
from convolutional_models import residual_block
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator
from onnx_models import model, weights

from compiler.frontend.inputs.onnx_rewrites import rewritten

Array = NDArray[Any]


def inferred(net: ModelProto) -> tuple[ModelProto, dict[str, Array]]:
    """With its stored tensors as inputs, as the importer has them."""
    stored = {t.name: numpy_helper.to_array(t) for t in net.graph.initializer}
    shapes = [helper.make_tensor_value_info(name, 1, array.shape) for name, array in stored.items()]
    del net.graph.initializer[:]
    net.graph.input.extend(shapes)
    return shape_inference.infer_shapes(net, strict_mode=True), stored


def made(net: ModelProto, given: dict[str, Array]) -> Array:
    (result,) = cast(list[Array], ReferenceEvaluator(net).run(None, {v.name: given[v.name] for v in net.graph.input}))
    return result


def assert_same(net: ModelProto) -> list[str]:
    """Operators of the network as it is rewritten, which computes the same."""
    before, stored = inferred(net)
    after, parameters = rewritten(before, stored)
    x = weights(9, *(d.dim_value for d in before.graph.input[0].type.tensor_type.shape.dim))
    declared = {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in after.graph.input}
    assert {name: array.shape for name, array in parameters.items()} | {"x": x.shape} == declared
    assert shape_inference.infer_shapes(after, strict_mode=True).graph.output == before.graph.output
    np.testing.assert_allclose(made(after, {**parameters, "x": x}), made(before, {**stored, "x": x}), atol=1e-5)
    return [node.op_type for node in after.graph.node]


def test_norms_go_into_the_convolutions_before_them() -> None:
    assert assert_same(residual_block(stride=2)).count("BatchNormalization") == 0


@pytest.mark.parametrize(
    ("bias", "attributes", "left"),
    [
        ((3,), {"transB": 1}, 0),
        ((1, 3), {"transB": 1}, 1),  # not one of channels
        ((3,), {"transB": 1, "alpha": 0.5}, 1),
        ((3,), {}, 1),  # channels are columns
    ],
)
def test_norms_go_into_the_products_before_them(bias: tuple[int, ...], attributes: dict[str, Any], left: int) -> None:
    stored = {"w": weights(0, 3, 3), "b": weights(1, *bias)}
    stored |= {name: abs(weights(n, 3)) + 1 for n, name in enumerate(("scale", "shift", "mean", "var"), start=2)}
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["a"], name="gemm", **attributes),
        helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "var"], ["y"], name="norm"),
    ]
    net = model(nodes, {"x": (4, 3)}, {"y": (4, 3)}, stored)
    assert assert_same(net).count("BatchNormalization") == left


def normed(**changed: Any) -> ModelProto:
    """A convolution and a norm; with `also`, something that reads a tensor of theirs too."""
    also, attributes = changed.pop("also", None), changed
    stored = {
        "w": weights(0, 3, 2, 3, 3),
        **{name: abs(weights(1, 3)) + 1 for name in ("scale", "bias", "mean", "var")},
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["b"], name="norm", **attributes),
        helper.make_node("Relu", ["b"], ["c"], name="relu"),
    ]
    if also:
        nodes.append(helper.make_node("ReduceSum", [also], ["d"], name="also", keepdims=0))
    nodes.append(helper.make_node("Add", ["c", "d" if also else "c"], ["y"], name="sum"))
    return model(nodes, {"x": (1, 2, 5, 5)}, {"y": (1, 3, 3, 3)}, stored)


def test_a_norm_stays_where_something_else_reads_what_would_change() -> None:
    assert "BatchNormalization" not in assert_same(normed(epsilon=0.5))
    for also in ("mean", "bias"):  # exporters store equal tensors once
        assert "BatchNormalization" not in assert_same(normed(also=also))
    for also in ("a", "w"):
        assert "BatchNormalization" in assert_same(normed(also=also))


def test_a_parameter_of_another_name_is_that_parameter() -> None:
    net = normed()
    nodes = [helper.make_node("Identity", [read], [made]) for read, made in (("mean", "same"), ("same", "again"))]
    net.graph.node[1].input[3] = "again"
    made = model([*nodes, *net.graph.node], {"x": (1, 2, 5, 5)}, {"y": (1, 3, 3, 3)})
    made.graph.initializer.extend(net.graph.initializer)
    assert assert_same(made) == ["Conv", "Relu", "Add"]


def test_a_norm_that_makes_a_weight_infinite_stays() -> None:
    before, stored = inferred(normed())
    stored["var"] = np.full(3, -1, np.float32)
    after, _ = rewritten(before, stored)
    assert "BatchNormalization" in [node.op_type for node in after.graph.node]


def pooled(lines: int, windows: int, **attributes: Any) -> ModelProto:
    node = helper.make_node("AveragePool", ["x"], ["y"], name="pool", **attributes)
    return model([node], {"x": (1, 2, lines, 7)}, {"y": (1, 2, windows, 5)}, {})


@pytest.mark.parametrize(
    ("net", "operators"),
    [
        (pooled(7, 5, kernel_shape=[3, 3]), ["AveragePool"]),
        (pooled(7, 5, kernel_shape=[3, 3], count_include_pad=0, pads=[0, 0, 0, 0]), ["AveragePool"]),
        (pooled(6, 3, kernel_shape=[3, 3], strides=[2, 1], pads=[1, 0, 0, 0], count_include_pad=1), ["AveragePool"]),
        (pooled(6, 3, kernel_shape=[3, 3], strides=[2, 1], pads=[1, 0, 0, 0]), ["AveragePool", "Mul"]),
        (pooled(6, 6, kernel_shape=[3, 3], pads=[1, 0, 1, 0]), ["AveragePool", "Mul"]),
        (pooled(6, 3, kernel_shape=[3, 3], strides=[2, 1], ceil_mode=1), ["AveragePool", "Mul"]),
    ],
)
def test_what_an_average_divides_by_differs_only_in_a_tensor(net: ModelProto, operators: list[str]) -> None:
    assert assert_same(net) == operators


@pytest.mark.parametrize("where", ["SAME_UPPER", "SAME_LOWER"])
def test_an_average_that_is_padded_until_it_has_the_same_size(where: str) -> None:
    node = helper.make_node("AveragePool", ["x"], ["y"], name="p", kernel_shape=[2, 4], strides=[1, 3], auto_pad=where)
    assert assert_same(model([node], {"x": (1, 2, 6, 8)}, {"y": (1, 2, 6, 3)}, {})) == ["AveragePool", "Mul"]
