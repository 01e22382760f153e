"""What an ONNX file must be before anything is made of it: sizes as declared, data inside, known nodes, f32 tensors."""

from collections.abc import Iterator
from math import prod

import onnx
from onnx import NodeProto, TensorProto, ValueInfoProto

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.onnx_operators import DOMAINS, MAX_NODES, MAX_TENSORS, REFUSED

MAX_RANK = 8
MAX_ELEMENTS = 1 << 28
MAX_TEXT = 4096  # bytes of an attribute: the equation of an Einsum is read in more than linear time
MAX_VALUES = 1 << 30  # elements of all values together: the reference keeps them all
MAX_INDICES = 4096  # elements of an integer tensor: shapes and axes are short


def check_model(model: onnx.ModelProto) -> None:
    """Raises InvalidInputError for a file that is wrong or too large, UnsupportedError for what has no place here."""
    graph = model.graph
    if not graph.node or not graph.output:
        raise InvalidInputError("the ONNX file holds no network: it has no nodes or no outputs")
    if len(graph.node) > MAX_NODES or len(graph.initializer) > MAX_TENSORS:
        raise InvalidInputError(
            f"the network has {len(graph.node)} nodes and {len(graph.initializer)} tensors; at most {MAX_NODES} and "
            f"{MAX_TENSORS} are accepted: export fewer layers, all layers of a transformer share one design"
        )
    if model.functions or graph.sparse_initializer:
        raise UnsupportedError("the ONNX file has local functions or sparse tensors; export it inlined and dense")
    for node in graph.node:
        _check_node(node)
    for tensor in _tensors(graph):
        _check_tensor(tensor)


def check_shapes(model: onnx.ModelProto) -> None:
    """After shape inference: every value has a fixed, bounded shape; inputs and outputs are f32.

    Raises InvalidInputError, UnsupportedError.
    """
    graph = model.graph
    for value in (*graph.input, *graph.output):
        kind = value.type.tensor_type.elem_type
        if kind != TensorProto.FLOAT:
            raise UnsupportedError(f"{value.name} is {type_name(kind)}; inputs and outputs must be FLOAT (32 bits)")
    elements = sum(_check_shape(value) for value in (*graph.input, *graph.value_info, *graph.output))
    if elements > MAX_VALUES:
        raise InvalidInputError(
            f"the network computes {elements} elements in all; at most {MAX_VALUES} are accepted: export fewer layers"
        )
    known = {v.name for v in (*graph.input, *graph.value_info, *graph.output, *graph.initializer)}
    for node in graph.node:
        if unknown := [name for name in node.output if name and name not in known]:
            raise UnsupportedError(
                f"{describe(node)}: the shape of its result {unknown[0]} is not known; export with fixed sizes"
            )


def describe(node: NodeProto) -> str:
    """A node for messages."""
    return f"node {node.name!r} ({node.op_type})"


def type_name(kind: int) -> str:
    return TensorProto.DataType.Name(kind) if kind in TensorProto.DataType.values() else f"type {kind}"


def _check_node(node: NodeProto) -> None:
    if node.domain not in DOMAINS:
        raise UnsupportedError(f"{describe(node)} is of the domain {node.domain!r}; only ONNX's own operators work")
    if node.op_type in REFUSED:
        raise UnsupportedError(f"{describe(node)} is not supported: {REFUSED[node.op_type]}")
    if any(len(a.s) > MAX_TEXT for a in node.attribute):
        raise InvalidInputError(f"{describe(node)[:200]} has a text of more than {MAX_TEXT} bytes; shorten it")
    if any(a.HasField("g") or a.graphs for a in node.attribute):
        raise UnsupportedError(f"{describe(node)} holds a graph of its own; export without control flow")


def _tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors


def _check_tensor(tensor: TensorProto) -> None:
    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        where = next((e.value for e in tensor.external_data if e.key == "location"), "another file")
        raise InvalidInputError(
            f"tensor {tensor.name!r} keeps its data in {where!r}; files beside an upload are never read: save the "
            "network with its data inside (onnx.save, save_as_external_data=False)"
        )
    elements = _elements(f"tensor {tensor.name!r}", tuple(tensor.dims))
    if tensor.data_type not in {TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64}:
        raise UnsupportedError(
            f"tensor {tensor.name!r} is {type_name(tensor.data_type)}; only FLOAT (32 bits), and INT64 for shapes, work"
        )
    if tensor.data_type != TensorProto.FLOAT and elements > MAX_INDICES:
        raise UnsupportedError(
            f"tensor {tensor.name!r} has {elements} elements of {type_name(tensor.data_type)}; only shapes, axes and "
            f"the like, of at most {MAX_INDICES} elements, work"
        )


def _check_shape(value: ValueInfoProto) -> int:
    """Its elements."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise UnsupportedError(f"{value.name!r} is not a tensor of known shape; export with fixed sizes")
    for dim in kind.shape.dim:
        if not dim.HasField("dim_value"):
            raise UnsupportedError(
                f"{value.name!r} has a dimension {dim.dim_param or '?'!r} without a size; export with fixed sizes "
                "(no dynamic_axes), one sequence or image at a time"
            )
    return _elements(repr(value.name), tuple(d.dim_value for d in kind.shape.dim))


def _elements(what: str, shape: tuple[int, ...]) -> int:
    shown = f"{list(shape[:MAX_RANK])}"
    if len(shape) > MAX_RANK or any(extent < 1 for extent in shape):
        raise InvalidInputError(f"{what} has the shape {shown}; up to {MAX_RANK} dimensions of at least 1 are accepted")
    if (elements := prod(shape)) > MAX_ELEMENTS:
        raise InvalidInputError(
            f"{what} has the shape {shown}, {elements} elements; at most {MAX_ELEMENTS} are accepted"
        )
    return elements
