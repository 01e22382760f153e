"""What the values of an ONNX network must be before any is computed: fixed shapes, f32 where people look, not too much
memory and not too many products. What the file declares, `compiler.frontend.scan` has looked at.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.scan.bounds import (
    MAX_ALIVE,
    MAX_ELEMENTS,
    MAX_INDICES,
    MAX_PRODUCTS,
    MAX_RANK,
    MAX_VALUES,
)

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]
_KINDS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64}


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
    _check_kinds(model)
    known = {v.name for v in (*graph.input, *graph.value_info, *graph.output, *graph.initializer)}
    for node in graph.node:
        if unknown := [name for name in node.output if name and name not in known]:
            raise UnsupportedError(
                f"{describe(node)}: the shape of its result {unknown[0]} is not known; export with fixed sizes"
            )


def check_cost(model: onnx.ModelProto) -> None:
    """After shape inference: what the reference holds at once, how often it multiplies. Raises InvalidInputError."""
    graph = model.graph
    values = (*graph.input, *graph.value_info, *graph.output)
    shapes = {v.name: shape_of(v) for v in values}
    if (products := sum(_products(node, shapes) for node in graph.node)) > MAX_PRODUCTS:
        raise InvalidInputError(
            f"the network multiplies {products} times; at most {MAX_PRODUCTS} are accepted: export fewer "
            "layers, or fewer rows at once"
        )
    if (alive := _alive(graph, shapes)) > MAX_ALIVE:
        raise InvalidInputError(
            f"the network holds {alive} elements at once; at most {MAX_ALIVE} are accepted: export fewer layers"
        )


def check_indices(model: onnx.ModelProto) -> None:
    """Before values of shapes are followed through the network: none is long, so that none can double forty times."""
    for value in model.graph.value_info:
        kind = value.type.tensor_type
        elements = prod(d.dim_value if d.HasField("dim_value") else 1 for d in kind.shape.dim)
        if kind.elem_type in {TensorProto.INT32, TensorProto.INT64} and elements > MAX_INDICES:
            raise UnsupportedError(
                f"{value.name!r} has {elements} elements that are whole numbers; only shapes, axes and the like, of at "
                f"most {MAX_INDICES} elements, work"
            )


def last_readers(graph: onnx.GraphProto) -> list[list[str]]:
    """For each node, the values that nothing reads after it; results are read by the caller."""
    kept = {output.name for output in graph.output}
    ends: list[list[str]] = []
    seen = set(kept)
    for node in reversed(graph.node):
        names = dict.fromkeys((*node.input, *node.output))
        ends.append([name for name in names if name and name not in seen])
        seen |= names.keys()
    return ends[::-1]


def describe(node: NodeProto) -> str:
    """A node for messages."""
    return f"node {node.name!r} ({node.op_type})"


def type_name(kind: int) -> str:
    return TensorProto.DataType.Name(kind) if kind in TensorProto.DataType.values() else f"type {kind}"


def _check_kinds(model: onnx.ModelProto) -> None:
    for value in model.graph.value_info:
        if (kind := value.type.tensor_type.elem_type) not in _KINDS:
            raise UnsupportedError(
                f"{value.name!r} is {type_name(kind)}; only FLOAT (32 bits), and INT64 for shapes, work"
            )


def _products(node: NodeProto, shapes: Shapes) -> int:
    """Multiplications of a node that sums products; 0 for any other."""
    given = [shapes.get(name, ()) for name in node.input]
    made = prod(shapes.get(node.output[0], ())) if node.output else 0
    match node.op_type:
        case "MatMul" if given[0]:
            return made * given[0][-1]
        case "Gemm" if len(given[0]) == 2:
            turned = next((a.i for a in node.attribute if a.name == "transA"), 0)
            return made * given[0][0 if turned else 1]
        case "Einsum":
            return _einsum_products(node, given)
        case "Conv":
            return made * prod(given[1][1:])
        case _:
            return 0


def _einsum_products(node: NodeProto, given: list[tuple[int, ...]]) -> int:
    """The product of the extents of all letters; of what an ellipsis stands for, the largest."""
    equation = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "equation"), b"")
    terms = equation.decode(errors="replace").replace(" ", "").partition("->")[0].split(",")
    extents: dict[str, int] = {}
    rest = 1
    for term, shape in zip(terms, given, strict=False):
        before, dots, after = term.partition("...")
        last = len(shape) - len(after)
        named = [*zip(before, shape, strict=False), *zip(after, shape[last:], strict=False)]
        extents |= {letter: max(extent, extents.get(letter, 1)) for letter, extent in named}
        rest = max(rest, prod(shape[len(before) : last])) if dots else rest
    return rest * prod(extents.values())


def _alive(graph: onnx.GraphProto, shapes: Shapes) -> int:
    """Elements that the reference holds at most, each value from when it is made until it was read last."""
    alive = most = sum(prod(shapes[v.name]) for v in graph.input)
    for node, ended in zip(graph.node, last_readers(graph), strict=True):
        alive += sum(prod(shapes.get(name, ())) for name in node.output if name)
        most = max(most, alive + _windows(node, shapes))
        alive -= sum(prod(shapes.get(name, ())) for name in ended)
    return most


def _windows(node: NodeProto, shapes: Shapes) -> int:
    """Elements of all windows that a convolution reads, which the reference lays side by side."""
    if node.op_type != "Conv":
        return 0
    made, weight = shapes.get(node.output[0], ()), shapes.get(node.input[1], ())
    return prod(made[:1]) * prod(made[2:]) * prod(weight[1:])


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
    return _elements(repr(value.name), shape_of(value))


def _elements(what: str, shape: tuple[int, ...]) -> int:
    shown = f"{list(shape[:MAX_RANK])}"
    if len(shape) > MAX_RANK or any(extent < 1 for extent in shape):
        raise InvalidInputError(f"{what} has the shape {shown}; up to {MAX_RANK} dimensions of at least 1 are accepted")
    if (elements := prod(shape)) > MAX_ELEMENTS:
        raise InvalidInputError(
            f"{what} has the shape {shown}, {elements} elements; at most {MAX_ELEMENTS} are accepted"
        )
    return elements


def shape_of(value: ValueInfoProto) -> tuple[int, ...]:
    """Of a value whose dimensions have sizes."""
    return tuple(d.dim_value for d in value.type.tensor_type.shape.dim)


def array_of(tensor: TensorProto) -> Array:
    """What is stored. Raises InvalidInputError where that is not what is declared, or not finite."""
    try:
        array = np.array(numpy_helper.to_array(tensor), order="C")
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"tensor {tensor.name!r} does not hold the data that it declares: {error}") from error
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInputError(f"tensor {tensor.name!r} holds values that are not finite (NaN or infinite)")
    return array


def first_line(error: Exception) -> str:
    """The first line of a report, which says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
