"""Small ONNX networks, built in code: an MLP, a ViT block, single nodes; and files that want to do harm."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]
Shapes = Mapping[str, Sequence[int | str]]
OPSET = 20


def weights(seed: int, *shape: int) -> Array:
    """Normal values of spread 0.1."""
    return np.asarray(np.random.default_rng(seed).standard_normal(shape) * 0.1, np.float32)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def model(
    nodes: Sequence[NodeProto],
    inputs: Shapes,
    outputs: Shapes,
    initialisers: Mapping[str, Any] | None = None,
    opset: int = OPSET,
) -> ModelProto:
    """A model of f32 inputs and outputs; a dimension that is a string is symbolic."""

    def declared(values: Shapes) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s)) for n, s in values.items()]

    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in (initialisers or {}).items()]
    graph: GraphProto = helper.make_graph(list(nodes), "network", declared(inputs), declared(outputs), stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def mlp(rows: int = 4, sizes: Sequence[int] = (97, 193, 101)) -> ModelProto:
    """Layers as PyTorch's exporter writes them: Gemm with transposed weights, ReLU between two."""
    nodes, stored = list[NodeProto](), dict[str, Array]()
    for layer, (inner, outer) in enumerate(pairwise(sizes), start=1):
        source, fc = "x" if layer == 1 else f"act{layer - 1}", f"fc{layer}"
        made = "y" if layer == len(sizes) - 1 else f"{fc}.out"
        stored |= {f"{fc}.weight": weights(2 * layer - 1, outer, inner), f"{fc}.bias": weights(2 * layer, outer)}
        nodes.append(helper.make_node("Gemm", [source, f"{fc}.weight", f"{fc}.bias"], [made], f"/{fc}/Gemm", transB=1))
        if made != "y":
            act = "/act/Relu" if layer == 1 else f"/act_{layer - 1}/Relu"
            nodes.append(helper.make_node("Relu", [made], [f"act{layer}"], act))
    return model(nodes, {"x": (rows, sizes[0])}, {"y": (rows, sizes[-1])}, stored)


def vit_block(tokens: int = 17, width: int = 48, heads: int = 3, inner: int = 96) -> ModelProto:
    """A block of a vision transformer: LayerNorm, attention over fused qkv, LayerNorm, MLP with GELU, residuals."""
    size = width // heads
    stored = {
        "norm1.weight": 1 + weights(1, width),
        "norm1.bias": weights(2, width),
        "qkv.weight": weights(3, width, 3 * width),
        "qkv.bias": weights(4, 3 * width),
        "proj.weight": weights(5, width, width),
        "proj.bias": weights(6, width),
        "norm2.weight": 1 + weights(7, width),
        "norm2.bias": weights(8, width),
        "fc1.weight": weights(9, width, inner),
        "fc1.bias": weights(10, inner),
        "fc2.weight": weights(11, inner, width),
        "fc2.bias": weights(12, width),
        "heads": integers(1, tokens, 3, heads, size),
        "joined": integers(1, tokens, width),
        "first": integers(0),
        "scale": np.float32(size**-0.5),
    }
    steps: list[tuple[str, str, list[str], list[str], dict[str, Any]]] = [
        ("LayerNormalization", "/norm1", ["x", "norm1.weight", "norm1.bias"], ["n1"], {"axis": -1, "epsilon": 1e-6}),
        ("MatMul", "/attn/qkv", ["n1", "qkv.weight"], ["m"], {}),
        ("Add", "/attn/qkv", ["qkv.bias", "m"], ["fused"], {}),
        ("Reshape", "/attn", ["fused", "heads"], ["split"], {}),
        ("Transpose", "/attn", ["split"], ["turned"], {"perm": [2, 0, 3, 1, 4]}),
        ("Split", "/attn", ["turned"], ["q5", "k5", "v5"], {"axis": 0, "num_outputs": 3}),
        ("Squeeze", "/attn/q", ["q5", "first"], ["q"], {}),
        ("Squeeze", "/attn/k", ["k5", "first"], ["k"], {}),
        ("Squeeze", "/attn/v", ["v5", "first"], ["v"], {}),
        ("Transpose", "/attn/k", ["k"], ["kt"], {"perm": [0, 1, 3, 2]}),
        ("MatMul", "/attn/scores", ["q", "kt"], ["scores"], {}),
        ("Mul", "/attn/scores", ["scores", "scale"], ["scaled"], {}),
        ("Softmax", "/attn", ["scaled"], ["p"], {"axis": -1}),
        ("MatMul", "/attn/context", ["p", "v"], ["context"], {}),
        ("Transpose", "/attn/context", ["context"], ["rows"], {"perm": [0, 2, 1, 3]}),
        ("Reshape", "/attn/context", ["rows", "joined"], ["flat"], {}),
        ("MatMul", "/attn/proj", ["flat", "proj.weight"], ["projected"], {}),
        ("Add", "/attn/proj", ["projected", "proj.bias"], ["attended"], {}),
        ("Add", "/residual1", ["x", "attended"], ["r1"], {}),
        ("LayerNormalization", "/norm2", ["r1", "norm2.weight", "norm2.bias"], ["n2"], {"axis": -1, "epsilon": 1e-6}),
        ("MatMul", "/mlp/fc1", ["n2", "fc1.weight"], ["f"], {}),
        ("Add", "/mlp/fc1", ["f", "fc1.bias"], ["f1"], {}),
        ("Gelu", "/mlp/act", ["f1"], ["g"], {}),
        ("MatMul", "/mlp/fc2", ["g", "fc2.weight"], ["h"], {}),
        ("Add", "/mlp/fc2", ["h", "fc2.bias"], ["f2"], {}),
        ("Add", "/residual2", ["r1", "f2"], ["y"], {}),
    ]
    nodes = [
        helper.make_node(kind, inputs, outputs, name=f"{path}/{kind}", **attributes)
        for kind, path, inputs, outputs, attributes in steps
    ]
    shape = (1, tokens, width)
    return model(nodes, {"x": shape}, {"y": shape}, stored)


def single(
    kind: str,
    inputs: Shapes,
    outputs: Shapes,
    initialisers: Mapping[str, Any] | None = None,
    opset: int = OPSET,
    **attributes: Any,
) -> ModelProto:
    """One node `/net/<kind>` that reads all inputs, then all initialisers."""
    names = [*inputs, *(initialisers or {})]
    node = helper.make_node(kind, names, list(outputs), name=f"/net/{kind}", **attributes)
    return model([node], inputs, outputs, initialisers, opset)


def followed(
    *nodes: Any, inputs: Shapes = MappingProxyType({"x": (1, 6, 8)}), outputs: Shapes, **initialisers: Any
) -> ModelProto:
    """Nodes `(kind, inputs, outputs, attributes)`, each called `/net/<kind>`."""
    made = [helper.make_node(kind, i, o, name=f"/net/{kind}", **attributes) for kind, i, o, attributes in nodes]
    return model(made, inputs, outputs, initialisers)


def chain(length: int) -> ModelProto:
    """So many ReLUs, one after the other."""
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"/relu{i}") for i in range(length)]
    return model(nodes, {"v0": (1, 4)}, {f"v{length}": (1, 4)})


def external(location: str) -> ModelProto:
    """An MLP whose first weight says that its data lies in another file."""
    made = mlp(1, (2, 2, 2))
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return made


def with_weight(value: float) -> ModelProto:
    """An MLP that holds `value` among its weights."""
    made = mlp(1, (2, 2, 2))
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.full((2, 2), value, np.float32), "fc1.weight"))
    return made


def lying_about_size() -> ModelProto:
    """A weight that declares 2^40 elements and holds four."""
    made = mlp(1, (2, 2, 2))
    del made.graph.initializer[0].dims[:]
    made.graph.initializer[0].dims.extend([1 << 20, 1 << 20])
    return made


def save(made: ModelProto, path: Path) -> Path:
    path.write_bytes(made.SerializeToString())
    return path


def mixer(tokens: int = 6, width: int = 10, across: int = 14, inner: int = 22) -> ModelProto:
    """An MLP-mixer block: a perceptron across tokens between two transposes, one across channels, residuals."""
    stored = {
        "norm.weight": 1 + weights(1, width),
        "norm.bias": weights(2, width),
        "tokens1": weights(3, tokens, across),
        "tokens2": weights(4, across, tokens),
        "channels1": weights(5, width, inner),
        "channels2": weights(6, inner, width),
    }
    steps: list[tuple[str, str, list[str], list[str], dict[str, Any]]] = [
        ("LayerNormalization", "/norm", ["x", "norm.weight", "norm.bias"], ["n"], {}),
        ("Transpose", "/tokens", ["n"], ["t"], {"perm": [0, 2, 1]}),
        ("MatMul", "/tokens/fc1", ["t", "tokens1"], ["a"], {}),
        ("Gelu", "/tokens/act", ["a"], ["b"], {}),
        ("MatMul", "/tokens/fc2", ["b", "tokens2"], ["c"], {}),
        ("Transpose", "/tokens/back", ["c"], ["d"], {"perm": [0, 2, 1]}),
        ("Add", "/residual1", ["x", "d"], ["r"], {}),
        ("MatMul", "/channels/fc1", ["r", "channels1"], ["e"], {}),
        ("Relu", "/channels/act", ["e"], ["f"], {}),
        ("MatMul", "/channels/fc2", ["f", "channels2"], ["g"], {}),
        ("Add", "/residual2", ["r", "g"], ["y"], {}),
    ]
    nodes = [
        helper.make_node(kind, inputs, outputs, name=f"{path}/{kind}", **attributes)
        for kind, path, inputs, outputs, attributes in steps
    ]
    shape = (1, tokens, width)
    return model(nodes, {"x": shape}, {"y": shape}, stored)
