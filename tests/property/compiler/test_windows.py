"""Random convolutions and poolings: imported, they compute what onnx says; compiled, their C++ does."""

from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from convolutional_models import NETWORKS
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto, helper
from onnx_models import model, save, weights

from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.inputs.source import FileSource, whole_network
from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs, Multiplier, Precision
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim

pytestmark = pytest.mark.slow
POOLINGS = ("MaxPool", "AveragePool")


def imported(net: ModelProto, folder: Path, precision: Precision = "f32") -> Bundle:
    from compiler.frontend.convert import convert  # loads torch

    path, workload = save(net, folder / "net.onnx"), replace(whole_network("net"), precision=precision)
    (folder / "bundle").mkdir()
    convert(FileSource("net", path, "onnx"), workload, folder / "bundle", lambda _: None)
    return load_bundle(folder / "bundle")


@st.composite
def extents(draw: st.DrawFn, most: int) -> tuple[int, int, int, int, int, int]:
    """Of a dimension: lines, kernel, stride, dilation, and padding on both sides."""
    kernel, stride = draw(st.integers(1, most)), draw(st.integers(1, 3))
    dilation = draw(st.integers(1, 2))
    span = (kernel - 1) * dilation + 1
    before, behind = (draw(st.integers(0, (kernel - 1) // 2)) for _ in range(2))
    lines = draw(st.integers(max(span - before - behind, 1), span + 4 * stride))
    return lines, kernel, stride, dilation, before, behind


@st.composite
def layers(draw: st.DrawFn) -> ModelProto:
    """A convolution with groups and bias, or a pooling, in one dimension or two, with a ReLU behind it; some of what
    nearest neighbours made larger.
    """
    kind = draw(st.sampled_from(("Conv", *POOLINGS)))
    most = 4 if kind == "Conv" else 3
    dims = [draw(extents(most)) for _ in range(draw(st.integers(1, 2)))]
    lines, kernel, stride, dilation, before, behind = (list(column) for column in zip(*dims, strict=True))
    groups, of, to = (draw(st.integers(1, 3)) for _ in range(3))
    if kind != "Conv":
        dilation, groups, to = [1] * len(dims), 1, of
        # onnx's own evaluator fails for some maxima of windows that are padded; `test_onnx` has others.
        before = behind = [0] * len(dims) if kind == "MaxPool" else list(map(max, before, behind))
    if kind == "MaxPool":
        lines = list(map(max, lines, kernel))  # a window fits also without the padding that they were drawn with
    made = [
        (n + low + high - (k - 1) * apart - 1) // every + 1
        for n, k, every, apart, low, high in zip(lines, kernel, stride, dilation, before, behind, strict=True)
    ]
    times = [draw(st.integers(1, 2)) for _ in dims] if all(n % 2 == 0 and n > 2 for n in lines) else [1] * len(dims)
    given = [n // by for n, by in zip(lines, times, strict=True)]
    attributes: dict[str, Any] = {"strides": stride, "pads": [*before, *behind]}
    stored: dict[str, Any] = {}
    read = "larger" if max(times) > 1 else "x"
    if kind == "Conv":
        attributes |= {"dilations": dilation, "group": groups}
        stored["w"] = weights(0, groups * to, of, *kernel)
        stored |= {"b": weights(1, groups * to)} if draw(st.booleans()) else {}
    else:
        attributes |= {"kernel_shape": kernel} | (
            {"count_include_pad": draw(st.integers(0, 1))} if kind == "AveragePool" else {}
        )
    nodes = [
        helper.make_node(kind, [read, *stored], ["a"], name=f"/net/{kind}", **attributes),
        helper.make_node("Relu", ["a"], ["y"], name="/net/Relu"),
    ]
    if max(times) > 1:
        nodes.insert(0, helper.make_node("Resize", ["x", "", "by"], [read], name="/net/Resize"))
        stored["by"] = np.array([1, 1, *times], np.float32)
    return model(nodes, {"x": (1, groups * of, *given)}, {"y": (1, groups * to, *made)}, stored)


def assert_computes(bundle: Bundle) -> None:
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    for name, result in bundle.expected().items():
        np.testing.assert_allclose(made[name], result, rtol=0, atol=5e-6 * max(1, np.abs(result).max()), err_msg=name)


def assert_compiles(bundle: Bundle, knobs: Knobs, folder: Path) -> None:
    assert compile_design(bundle, knobs, load_platform("u55c"), folder / "design").feasible
    verdict = csim(folder / "design")
    assert verdict.passed, verdict.message


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(layers())
def test_random_layers_compute_what_onnx_says(tmp_path_factory: pytest.TempPathFactory, net: ModelProto) -> None:
    assert_computes(imported(net, tmp_path_factory.mktemp("layer")))


KNOBS = st.builds(
    Knobs,
    default_tile_size=st.sampled_from([1, 4, 16]),
    overall_unroll=st.sampled_from([1, 16, 64]),
    order=st.sampled_from(["reduction-inner", "reduction-outer"]),
    stream_width=st.sampled_from([32, 512]),
    multiplier=st.sampled_from(get_args(Multiplier)),
    fusion_budget=st.sampled_from([0, 1 << 20]),
)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(layers(), KNOBS, st.sampled_from(("f32", "w8a8", "w4a8")))
def test_random_layers_pass_c_simulation(
    tmp_path_factory: pytest.TempPathFactory, net: ModelProto, knobs: Knobs, precision: Precision
) -> None:
    """What sums no products is left in f32: a pooling has no weights, a convolution of one point scales it."""
    folder = tmp_path_factory.mktemp("layer")
    sums = any(tensor.name == "w" and prod(tensor.dims[1:]) > 1 for tensor in net.graph.initializer)
    assert_compiles(imported(net, folder, precision if sums else "f32"), knobs, folder)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_compute_and_pass_c_simulation(name: str, tmp_path: Path) -> None:
    bundle = imported(NETWORKS[name](), tmp_path)
    assert_computes(bundle)
    assert_compiles(bundle, Knobs(), tmp_path)


@pytest.mark.parametrize(
    ("name", "precision", "knobs"),
    [("residual_strided", "w8a8", Knobs(multiplier="dsp_packed")), ("mnist", "w4a8", Knobs(fusion_budget=0))],
)
def test_networks_in_integers_pass_c_simulation(name: str, precision: Precision, knobs: Knobs, tmp_path: Path) -> None:
    """Task by task to the bit; the reference says how far it is from the network in f32."""
    bundle = imported(NETWORKS[name](), tmp_path, precision)
    assert_compiles(bundle, knobs, tmp_path)
    assert bundle.workload.precision == precision
    assert bundle.meta["quantised"]["calibration"] == "32 seeded samples of each input"
    assert all(0 < error["rms"] < 0.2 for error in bundle.meta["quantised"]["error"].values())
    assert "off onnx.reference.ReferenceEvaluator in f32" in bundle.meta["reference"]
