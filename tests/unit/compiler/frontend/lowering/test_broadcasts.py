"""What only repeats is written out: results, parts of a concatenation, what windows are of."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from convolutional_models import Network
from onnx import ModelProto
from onnx_models import save

from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.inputs.source import FileSource, whole_network
from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Knobs
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim


def imported(net: ModelProto, folder: Path) -> Bundle:
    from compiler.frontend.convert import convert  # loads torch

    (folder / "bundle").mkdir()
    path = save(net, folder / "net.onnx")
    convert(FileSource("net", path, "onnx"), whole_network("net"), folder / "bundle", lambda _: None)
    return load_bundle(folder / "bundle")


def larger(beside: bool) -> ModelProto:
    """A picture of which each line is there twice; two channels of it, or with two others that `beside` makes of it."""
    net = Network(x=(1, 2, 3, 4))
    net.stored["by"] = np.array([1, 1, 2, 1], np.float32)
    up = net.node("Resize", "up", net.node("Relu", "relu", "x"), "", "by")
    if beside:
        net.node("Concat", "both", net.node("Neg", "neg", up), up, axis=1)
    return net.made(1, 4 if beside else 2, 6, 4)


def test_a_result_and_a_part_that_repeat_are_written_out(tmp_path: Path) -> None:
    for beside in (False, True):
        (folder := tmp_path / str(beside)).mkdir()
        bundle = imported(larger(beside), folder)
        made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
        for name, expected in bundle.expected().items():
            np.testing.assert_array_equal(made[name], expected)
        spread = [op for op in bundle.graph.ops if op.name.endswith(".broadcast")]
        assert len(spread) == 1  # what Neg makes does not repeat
        assert all(len(op.loops) > len(op.inputs[0].dims) for op in spread)


def test_a_product_is_as_often_there_as_what_it_reads_repeats(tmp_path: Path) -> None:
    net = Network(x=(1, 2, 3, 4))
    net.stored["by"] = np.array([1, 1, 2, 1], np.float32)
    net.conv("point", net.node("Resize", "up", net.node("Relu", "relu", "x"), "", "by"), 2, 3, 1)
    bundle = imported(net.made(1, 3, 6, 4), tmp_path)
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    for name, expected in bundle.expected().items():
        np.testing.assert_allclose(made[name], expected, rtol=0, atol=1e-6)
    (product,) = (op for op in bundle.graph.ops if op.is_contraction)
    assert {*product.outputs[0].dims} - {*product.inputs[0].dims} - {*product.inputs[1].dims}


def _larger(net: Network) -> str:
    """Each column of two channels twice."""
    net.stored["by"] = np.array([1, 1, 1, 2], np.float32)
    return net.node("Resize", "up", net.node("Relu", "relu", "x"), "", "by")


def of_groups() -> ModelProto:
    net = Network(x=(1, 2, 4, 2))
    net.conv("point", _larger(net), 2, 4, 1, 2, strides=[2, 1])
    return net.made(1, 4, 2, 4)


def turned() -> ModelProto:
    net = Network(x=(1, 2, 4, 2))
    net.conv("point", net.node("Transpose", "turn", _larger(net), perm=[0, 1, 3, 2]), 2, 4, 1, strides=[1, 2])
    return net.made(1, 4, 4, 2)


def cut() -> ModelProto:
    net = Network(x=(1, 4, 4, 2))
    net.stored |= {"from": np.array([0]), "to": np.array([2]), "axis": np.array([1])}
    net.conv("point", net.node("Slice", "cut", _larger(net), "from", "to", "axis"), 2, 4, 1, strides=[2, 1])
    return net.made(1, 4, 2, 4)


def wide() -> ModelProto:
    """A channel twice, without a reshape."""
    net = Network(x=(1, 1, 4, 4))
    net.stored["shape"] = np.array([1, 2, 4, 4])
    net.conv("around", net.node("Expand", "wide", net.node("Relu", "relu", "x"), "shape"), 2, 4, 3)
    return net.made(1, 4, 4, 4)


@pytest.mark.parametrize("net", [of_groups, turned, cut, wide])
def test_windows_are_of_what_repeats_along_another_dimension(net: Callable[[], ModelProto], tmp_path: Path) -> None:
    bundle = imported(net(), tmp_path)
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    for name, expected in bundle.expected().items():
        np.testing.assert_allclose(made[name], expected, rtol=0, atol=1e-6)
    compile_design(bundle, Knobs(default_tile_size=4), load_platform("u55c"), tmp_path / "design")
    verdict = csim(tmp_path / "design")
    assert verdict.passed, verdict.message
