"""Padded networks in C++: their results are those of the network without padding."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import Network, argmax, body
from small_graphs import mlp, softmax

from compiler.analysis.padding import pad
from compiler.frontend.interpret import NUMPY_DTYPE, interpret
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Operand, Output, Reduction, Value
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.csim.execute import run
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.images import unpack
from compiler.targets.interface import plan_interface

U55C = load_platform("u55c")
FOLD = body(["f32"], ("arith.constant", (), "f32", 0.0), ("arith.subf", (1, 0)))
TILED = Knobs(default_tile_size=8, overall_unroll=64, max_padding=12)
SPLIT = replace(TILED, overall_unroll=512, order="reduction-outer", max_padding=25, hbm_channels=2, fusion_budget=0)


def prime_mlp() -> LinalgGraph:
    return mlp(97, 193, 101)


def narrow_softmax() -> LinalgGraph:
    return softmax(3, 13)


def negative_maximum() -> LinalgGraph:
    """The largest of values that are all below the zeros of the padding."""
    network = Network("largest")
    network.tensor("x", np.zeros((3, 13), np.float32), role="input")
    network.generic("n", (3, 13), [("x", "ab")], "ab", body(["f32"], ("math.absf", (0,)), ("arith.negf", (1,))))
    network.generic("y", (3, 13), [("n", "ab")], "a", body(["f32"], ("arith.negf", (0,)), ("arith.negf", (1,))),
                    Reduction("max", float("-inf")))  # fmt: skip
    network.result("y", np.zeros(3))
    return network.graph()


def layer_norm() -> LinalgGraph:
    """Over 97 features; the mean of one row comes from a sum that has to skip the padding."""
    network = Network("norm")
    network.tensor("x", np.zeros((97,), np.float32), role="input")
    network.tensor("gamma", np.zeros((97,), np.float32))
    network.generic("t", (97,), [("x", "a")], "", body(["f32"], ("arith.addf", (0, 0))), Reduction("add", 0.0))
    mean = ("arith.constant", (), "f32", 1 / 194)
    network.generic("c", (97,), [("x", "a"), ("t", "")], "a",
                    body(["f32", "f32"], mean, ("arith.mulf", (1, 2)), ("arith.subf", (0, 3))))  # fmt: skip
    network.generic("s", (97,), [("c", "a")], "", body(["f32"], ("arith.mulf", (0, 0))), Reduction("add", 0.0))
    scale = body(["f32"] * 3, ("math.rsqrt", (1,)), ("arith.mulf", (0, 3)), ("arith.mulf", (4, 2)))
    network.generic("y", (97,), [("c", "a"), ("s", ""), ("gamma", "a")], "a", scale)
    network.result("y", np.zeros(97))
    return network.graph()


def integers() -> LinalgGraph:
    """Two int8 products with rounding in between, and an integer maximum of what is negative."""
    network = Network("integers")
    network.tensor("x", np.zeros((17, 29), np.int8), "i8", "input")
    network.tensor("w", np.zeros((29, 19), np.int8), "i4")
    network.tensor("v", np.zeros((19, 23), np.int8), "i4")
    product = body(
        ["i8", "i4"], ("arith.extsi", (0,), "i32"), ("arith.extsi", (1,), "i32"), ("arith.muli", (2, 3), "i32")
    )
    three = ("arith.constant", (), "i32", 3)
    network.generic("a", (17, 19, 29), [("x", "ac"), ("w", "cb")], "ab", product, Reduction("add", 0), "i32")
    narrow = body(["i32"], three, ("arith.addi", (0, 1), "i32"), ("arith.trunci", (2,), "i8"))
    network.generic("b", (17, 19), [("a", "ab")], "ab", narrow, dtype="i8")
    network.generic("y", (17, 23, 19), [("b", "ac"), ("v", "cb")], "ab", product, Reduction("add", 0), "i32")
    lower = body(["i32"], ("arith.constant", (), "i32", 100000), ("arith.subi", (0, 1), "i32"))
    network.generic("z", (17, 23), [("y", "ab")], "a", lower, Reduction("max", -(2**31)), "i32")
    network.result("y", np.zeros((17, 23)))
    network.result("z", np.zeros(17))
    return network.graph()


def joined_rows() -> LinalgGraph:
    """96 rows of a cache and a new one, joined to 97; the largest of each column."""
    network = Network("joined")
    network.tensor("past", np.zeros((96, 2), np.float32), role="state")
    network.tensor("new", np.zeros((2,), np.float32), role="input")
    network.values["rows"] = Value("rows", (97, 2), "f32")
    parts, joined = (Operand("past", (0, 1)), Operand("new", (1,))), (Operand("rows", (0, 1)),)
    network.ops.append(LinalgOp("join", "concat", (97, 2), ("parallel",) * 2, (0, 1), parts, joined, axis=0))
    network.generic("y", (2, 97), [("rows", "ba")], "a", FOLD, Reduction("max", float("-inf")))
    network.result("y", np.zeros(2))
    return network.graph()


def negative_argmax() -> LinalgGraph:
    """Where the largest of numbers is that are all below the zeros of the padding."""
    network = argmax(np.zeros((3, 13), np.float32))
    key, index = network.ops
    network.ops.clear()
    network.generic("n", (3, 13), [("x", "ab")], "ab", body(["f32"], ("math.absf", (0,)), ("arith.negf", (1,))))
    network.ops += [replace(key, inputs=(Operand("n", (0, 1)),)), index]
    return network.graph()


def tensors_of(graph: LinalgGraph) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    made = {v.source: rng.integers(-8, 8, v.shape) if v.dtype != "f32" else rng.uniform(0.1, 1, v.shape)
            for v in graph.values if v.role != "intermediate"}  # fmt: skip
    return {v.source: made[v.source].astype(NUMPY_DTYPE[v.dtype]) for v in graph.values if v.source in made}


def plain_outputs(graph: LinalgGraph) -> LinalgGraph:
    """Results by the names and shapes of their values."""
    outputs = (Output(o.value, o.value, o.permutation, graph.value[o.value].shape) for o in graph.outputs)
    return replace(graph, outputs=tuple(outputs))


@pytest.mark.slow
@pytest.mark.parametrize("knobs", [TILED, SPLIT], ids=["one kernel", "several"])
@pytest.mark.parametrize(
    "make",
    [prime_mlp, narrow_softmax, negative_maximum, negative_argmax, layer_norm, integers, joined_rows],
    ids=lambda f: f.__name__,
)
def test_the_code_skips_the_padding(make: Callable[[], LinalgGraph], knobs: Knobs, tmp_path: Path) -> None:
    graph = plain_outputs(make())
    tensors = tensors_of(graph)
    values = interpret(graph, tensors)
    padded, tasks = pad(graph, knobs), planned_tasks(graph, knobs, U55C)
    padded.verify()
    tasks.verify()
    expected = {o.name: values[o.value] for o in graph.outputs}
    assert any(value.valid for value in padded.values)
    emit_design(tasks, padded, U55C, NetworkData(tensors, expected, 1e-4), tmp_path)
    interface = plan_interface(tasks, padded)
    program = build(tmp_path / "hls", tmp_path / "csim", calls_of(tmp_path))
    assert run(program, tmp_path, arguments=[str(tmp_path)]).stderr == ""  # the testbench agrees
    for image in (i for i in interface.images if i.role == "output"):
        content = [(tmp_path / image.file(c)).read_bytes() for c in range(image.dma.channels)]
        got, wanted = unpack(content, image.dma, image.value.true_shape), expected[image.value.name]
        np.testing.assert_allclose(
            got, wanted, rtol=0, atol=1e-4 * np.abs(wanted).max() if got.dtype.kind == "f" else 0
        )
