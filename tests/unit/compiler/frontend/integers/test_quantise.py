"""Networks in integers: bit for bit what obvious integer arithmetic gives, near the network in f32, and refusals."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from convolutional_models import NETWORKS
from numpy.typing import NDArray
from onnx import ModelProto
from onnx_models import mlp, single, vit_block, weights

from compiler.errors import InvalidInputError
from compiler.frontend.integers.quantise import Quantised, quantise
from compiler.frontend.interpret import interpret, outputs_of
from compiler.frontend.seeds import seeded
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Precision

Array = NDArray[Any]
Samples = list[Mapping[str, Array]]


def samples_of(graph: LinalgGraph, count: int = 32) -> Samples:
    inputs = [value for value in graph.values if value.role == "input"]
    return [{v.source: seeded(f"sample {i} {v.name}", v.shape) for v in inputs} for i in range(count)]


@pytest.fixture
def made(import_onnx: Any) -> Any:
    """`made(model, precision)`: the network and the tensors of it, as it was and in integers."""

    def make(model: ModelProto, precision: Precision) -> tuple[LinalgGraph, Mapping[str, Array], Quantised]:
        bundle = import_onnx(model)
        graph, tensors = bundle.network(), bundle.tensors()
        return graph, tensors, quantise(graph, tensors, samples_of(graph), precision)

    return make


def results(graph: LinalgGraph, tensors: Mapping[str, Array]) -> dict[str, Array]:
    return outputs_of(graph, interpret(graph, tensors))


@pytest.mark.parametrize(("precision", "top"), [("w8a8", 127), ("w4a8", 7)])
def test_a_perceptron_is_integers_from_product_to_product(made: Any, precision: Precision, top: int) -> None:
    """Against arithmetic of its own: weights and activations rounded, exact sums, one rounding between two layers."""
    graph, tensors, quantised = made(mlp(4, (32, 24, 12)), precision)
    found = interpret(quantised.graph, {**tensors, **quantised.tensors})
    peaks = {
        name: max(np.abs(interpret(graph, {**tensors, **s})[name]).max() for s in samples_of(graph))
        for name in ("x", "act.relu")
    }
    scale = {name: float(np.float32(peak / 127)) for name, peak in peaks.items()}
    x = np.clip(np.rint(tensors["x"] * (np.float32(1) / np.float32(scale["x"]))), -127, 127).astype(int)
    np.testing.assert_array_equal(found["x.quantise"], x)

    def weight(name: str) -> tuple[Array, Array]:
        of = tensors[name].astype(np.float64)
        steps = (np.abs(of).max(1, keepdims=True) / top).astype(np.float32).astype(np.float64)
        return np.clip(np.rint(of / steps), -top, top).astype(int), steps[:, 0]

    first, steps = weight("fc1.weight")
    real = (x @ first.T) * (steps * scale["x"]) + tensors["fc1.bias"]
    hidden = np.clip(np.floor(np.maximum(real, 0) / scale["act.relu"] + 0.5), -127, 127).astype(int)
    np.testing.assert_array_equal(found["act.relu"], hidden)
    assert hidden.max() > 80  # the range is used
    second, steps = weight("fc2.weight")
    np.testing.assert_array_equal(found["fc2.gemm.matmul"], hidden @ second.T)
    step = steps * scale["act.relu"]
    exact = (hidden @ second.T + np.rint(tensors["fc2.bias"] / step)) * step  # a bias in whole steps
    np.testing.assert_allclose(found["fc2.gemm"], exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lenet5", "residual", "residual_strided", "inverted_residual", "speech"])
def test_convolutional_networks_are_near_and_all_integers(made: Any, name: str) -> None:
    """Between the first rounding and the last product there is no f32: poolings, residual additions and bounds too."""
    graph, tensors, quantised = made(NETWORKS[name](), "w8a8")
    exact = results(graph, tensors)
    for output, got in results(quantised.graph, {**tensors, **quantised.tensors}).items():
        assert np.abs(got - exact[output]).max() <= 0.06 * np.abs(exact[output]).max()
    made_in_floats = [v.name for v in quantised.graph.values if v.role == "intermediate" and v.dtype == "f32"]
    assert made_in_floats == [output.value for output in quantised.graph.outputs]
    assert quantised.left == ()
    assert quantised.products == sum(op.is_contraction for op in graph.ops)


@pytest.mark.parametrize("size", [3, 6])  # of one window, and of several
def test_the_bias_of_a_single_channel_is_no_reason_for_f32(made: Any, size: int) -> None:
    """Sums of products begin with it in f32; in integers an operation of its own adds it."""
    stored = {"w": weights(0, 1, 2, 3, 3), "b": weights(1, 1)}
    shapes = {"x": (1, 2, size, size)}, {"y": (1, 1, size - 2, size - 2)}
    graph, tensors, quantised = made(single("Conv", *shapes, stored), "w8a8")
    assert any(op.reduction is not None and op.reduction.init for op in graph.ops)
    assert (quantised.products, quantised.left) == (1, ())
    exact, got = (
        results(g, t)["y"] for g, t in ((graph, tensors), (quantised.graph, {**tensors, **quantised.tensors}))
    )
    assert np.abs(got - exact).max() <= 0.06 * np.abs(exact).max()


def test_attention_keeps_f32_between_its_products_with_weights(made: Any) -> None:
    graph, tensors, quantised = made(vit_block(), "w8a8")
    exact = results(graph, tensors)
    for output, got in results(quantised.graph, {**tensors, **quantised.tensors}).items():
        assert np.abs(got - exact[output]).max() <= 0.06 * np.abs(exact[output]).max()
    assert len(quantised.left) == 2  # queries with keys, weights with values
    for name in quantised.left:
        assert {quantised.graph.value[o.value].dtype for o in quantised.graph.op[name].inputs} == {"f32"}


def test_what_can_not_be_quantised(made: Any) -> None:
    graph, tensors, quantised = made(mlp(4, (32, 24, 12)), "w8a8")
    with pytest.raises(InvalidInputError, match="is quantised already"):
        quantise(quantised.graph, quantised.tensors, [], "w8a8")
    with pytest.raises(InvalidInputError, match="not finite on the calibration data"):
        quantise(graph, tensors, [{"x": np.full((4, 32), np.inf, np.float32)}], "w8a8")


def test_without_weights_there_is_nothing_to_quantise(import_onnx: Any) -> None:
    graph = import_onnx(single("Relu", {"x": (4, 8)}, {"y": (4, 8)})).network()
    with pytest.raises(InvalidInputError, match="no products with weights"):
        quantise(graph, {}, [], "w8a8")
