"""What an ONNX network computes of sizes alone: computed where it is bounded, as the file's opset says."""

import time

import numpy as np
import onnx_models
import pytest
from onnx import TensorProto, helper
from onnx_models import integers

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.onnx_shapes import with_shapes

X = {"x": (1, 6, 8)}
Y = {"y": (1, 6, 8)}


def test_whole_numbers_that_grow_are_not_computed_before_they_are_refused() -> None:
    """Three vectors of 4,096, each along a dimension of its own, have 2 ** 36 results; so small each of them is."""
    nodes = [
        helper.make_node("Add", ["n", "0"], ["to0"]),
        *(helper.make_node("Reshape", ["long", f"to{d}"], [f"v{d}"]) for d in range(3)),
        helper.make_node("Max", ["v0", "v1", "v2"], ["large"]),
        helper.make_node("Cast", ["large"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["f"], ["m"], keepdims=0),
        helper.make_node("Mul", ["x", "m"], ["y"]),
    ]
    stored = {"long": np.arange(4096), "n": integers(4096, 1, 1), "0": integers(0, 0, 0)}
    stored |= {"to1": integers(1, 4096, 1), "to2": integers(1, 1, 4096)}
    began = time.process_time()
    with pytest.raises((InvalidInputError, UnsupportedError)):
        with_shapes(onnx_models.model(nodes, X, Y, stored))
    assert time.process_time() - began < 5


def test_sizes_are_computed_as_their_opset_says() -> None:
    """Of 12: axes of Unsqueeze are an attribute."""
    nodes = [
        helper.make_node("Unsqueeze", ["n"], ["to"], axes=[0]),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    found = with_shapes(onnx_models.model(nodes, X, {"y": (48,)}, {"n": np.array(48, np.int64)}, opset=12))
    assert [node.op_type for node in found.graph.node] == ["Reshape"]
