"""Twenty large honest networks as files, each large in a way of its own: none of them may be refused.

A layer's weights are those of every other layer: what a file weighs counts, not what it learned.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_models
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper
from onnx_models import weights

Array = NDArray[Any]


def large_files() -> dict[str, Callable[[], bytes]]:
    """What makes each file, by the file's name."""
    files: dict[str, Callable[[], bytes]] = {
        "6000-nodes-500-MB.onnx": lambda: _file(perceptron(2000, 250)),
        "4000-nodes.onnx": lambda: _file(perceptron(2000, 16, activation=None)),
        "deep.onnx": lambda: _file(onnx_models.chain(8000)),
        "deep-residuals.onnx": lambda: _file(residuals(1500)),
        "one-matrix-of-400-MB.onnx": lambda: _file(perceptron(1, 10_000)),
        "five-matrices-of-100-MB.onnx": lambda: _file(perceptron(5, 5000)),
        "tanh-1000-rows.onnx": lambda: _file(perceptron(100, 300, rows=1000, activation="Tanh")),
        "3000-tensors.onnx": lambda: _file(perceptron(1500, 8)),
        "600-inputs.onnx": lambda: _file(many_inputs(600)),
        "1000-outputs.onnx": lambda: _file(many_outputs(1000)),
        "wide-concatenation.onnx": lambda: _file(concatenation(1000)),
        "vit-large-block.onnx": lambda: _file(onnx_models.vit_block(577, 1024, 16, 4096)),
        "vit-long.onnx": lambda: _file(onnx_models.vit_block(2048, 256, 4, 1024)),
        "transformer-12.onnx": lambda: _file(blocks(12, 128, 768, 12)),
        "transformer-100-layers.onnx": lambda: _file(blocks(100, 16, 96, 4)),
        "mixer-large.onnx": lambda: _file(onnx_models.mixer(196, 1024, 512, 4096)),
        "long-names.onnx": lambda: _file(perceptron(300, 32, path="/model/" + "encoder/layer/" * 20)),
    }
    return files | {
        "1000-matmuls.mlir": lambda: linalg(1000, 64, 4),
        "one-large-matmul.mlir": lambda: linalg(1, 4096, 64),
        "gpt2-in-linalg.mlir": lambda: linalg(24, 1536, 128),
    }


def _file(made: ModelProto) -> bytes:
    return made.SerializeToString()


def perceptron(
    layers: int, width: int, rows: int = 2, activation: str | None = "Relu", path: str = "/layers"
) -> ModelProto:
    """So many layers of a product, a bias and, unless None, an activation: two or three nodes each."""
    nodes: list[NodeProto] = []
    stored: dict[str, Array] = {}
    square, vector = weights(1, width, width) * np.float32(5 * width**-0.5), weights(2, width)
    value = "x"
    for layer in range(layers):
        stored |= {f"layers.{layer}.weight": square, f"layers.{layer}.bias": vector}
        steps = [("MatMul", [f"layers.{layer}.weight"]), ("Add", [f"layers.{layer}.bias"])]
        for kind, others in [*steps, *([(activation, [])] if activation else [])]:
            made = f"{path}.{layer}/{kind}_out"
            nodes.append(helper.make_node(kind, [value, *others], [made], name=f"{path}.{layer}/{kind}"))
            value = made
    nodes[-1].output[0] = "y"
    return onnx_models.model(nodes, {"x": (rows, width)}, {"y": (rows, width)}, stored)


def residuals(layers: int) -> ModelProto:
    """Two nodes a layer, and each result is read twice."""
    nodes: list[NodeProto] = []
    for i in range(layers):
        nodes.append(helper.make_node("Tanh", [f"v{i}"], [f"t{i}"]))
        nodes.append(helper.make_node("Add", [f"v{i}", f"t{i}"], [f"v{i + 1}"]))
    return onnx_models.model(nodes, {"v0": (4, 32)}, {f"v{layers}": (4, 32)})


def many_inputs(count: int) -> ModelProto:
    """As the cache of a decoder has them."""
    node = helper.make_node("Sum", [f"past.{i}" for i in range(count)], ["y"])
    return onnx_models.model([node], {f"past.{i}": (8, 64) for i in range(count)}, {"y": (8, 64)})


def many_outputs(count: int) -> ModelProto:
    nodes = [helper.make_node("Mul", ["x", f"w{i}"], [f"y{i}"]) for i in range(count)]
    stored = {f"w{i}": weights(i, 4, 8) for i in range(count)}
    return onnx_models.model(nodes, {"x": (4, 8)}, {f"y{i}": (4, 8) for i in range(count)}, stored)


def concatenation(count: int) -> ModelProto:
    nodes = [helper.make_node("Mul", ["x", f"w{i}"], [f"p{i}"]) for i in range(count)]
    nodes.append(helper.make_node("Concat", [f"p{i}" for i in range(count)], ["y"], axis=0))
    stored = {f"w{i}": weights(i, 1, 8) for i in range(count)}
    return onnx_models.model(nodes, {"x": (1, 8)}, {"y": (count, 8)}, stored)


def blocks(layers: int, tokens: int, width: int, heads: int) -> ModelProto:
    """Blocks of a vision transformer, one after the other."""
    block = onnx_models.vit_block(tokens, width, heads, 4 * width)
    made = onnx_models.model([], {"x": (1, tokens, width)}, {"y": (1, tokens, width)})
    before = "x"
    for layer in range(layers):
        after = "y" if layer == layers - 1 else f"{layer}.y"
        names = {"x": before, "y": after, "": ""}
        for node in block.graph.node:
            copy = made.graph.node.add()
            copy.CopyFrom(node)
            copy.name = f"/layers.{layer}{node.name}"
            copy.input[:] = [names.get(name, f"{layer}.{name}") for name in node.input]
            copy.output[:] = [names.get(name, f"{layer}.{name}") for name in node.output]
        for tensor in block.graph.initializer:
            stored = made.graph.initializer.add()
            stored.CopyFrom(tensor)
            stored.name = f"{layer}.{tensor.name}"
        before = after
    return made


def linalg(layers: int, width: int, rows: int) -> bytes:
    """So many products with a tanh behind each."""
    row, square = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>"
    given = [f'%w{i}: {square} {{millrace.role = "param"}}' for i in range(layers)]
    lines = ["%c = arith.constant 0.0 : f32", f"%e = tensor.empty() : {row}"]
    for i in range(layers):
        before = f"%t{i - 1}" if i else "%x"
        lines += [
            f"%f{i} = linalg.fill ins(%c : f32) outs(%e : {row}) -> {row}",
            f"%m{i} = linalg.matmul ins({before}, %w{i} : {row}, {square}) outs(%f{i} : {row}) -> {row}",
            f"%t{i} = linalg.tanh ins(%m{i} : {row}) outs(%e : {row}) -> {row}",
        ]
    body = "\n".join([*lines, f"return %t{layers - 1} : {row}"])
    return f"func.func @main({', '.join([f'%x: {row}', *given])}) -> {row} {{\n{body}\n}}\n".encode()
