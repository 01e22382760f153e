"""Shapes of an ONNX network: inferred, through whatever it computes of sizes, and checked."""

from collections.abc import Mapping
from math import prod
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.onnx_checks import (
    array_of,
    check_cost,
    check_indices,
    check_shapes,
    describe,
    first_line,
    shape_of,
)
from compiler.frontend.scan.bounds import MAX_INDICES

Array = NDArray[Any]
_INDICES = {TensorProto.INT32, TensorProto.INT64}
_OF_PARTS = {"Concat", "Reshape", "Slice", "Squeeze", "Unsqueeze"}  # results have no more elements than operands
_OF_INDICES = {*_OF_PARTS, "Abs", "Add", "Div", "Gather", "Max", "Min", "Mod", "Mul", "Neg", "Sub"}

# pyright: reportUnknownMemberType=false
# (protobuf's containers are half typed)


def with_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the shape of every value, without what it computes of sizes alone.

    Raises InvalidInputError, UnsupportedError.
    """
    try:
        check_indices(_inferred(model))
        _fold_indices(model)
        _fold_indices(model, _inferred(model, data_prop=True))
        inferred = _inferred(model, data_prop=True)
    except (shape_inference.InferenceError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"the shapes of the ONNX file do not fit together: {first_line(error)}") from error
    check_shapes(inferred)
    check_cost(inferred)
    return inferred


def _inferred(model: onnx.ModelProto, data_prop: bool = False) -> onnx.ModelProto:
    return shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=data_prop)


def _fold_indices(model: onnx.ModelProto, inferred: onnx.ModelProto | None = None) -> None:
    """Compute what is made of stored whole numbers alone, and of the shapes that were `inferred`: inference follows
    values of shapes, but not through `Mod`, which PyTorch exports of attention, and none of them is data that streams.
    """
    graph, opsets = model.graph, {opset.domain: opset.version for opset in model.opset_import}
    stored = {t.name: array_of(t) for t in graph.initializer if t.data_type in _INDICES and prod(t.dims) <= MAX_INDICES}
    values = (*inferred.graph.input, *inferred.graph.value_info) if inferred else ()
    shapes = {v.name: np.array(shape_of(v), np.int64) for v in values if _is_sized(v)}
    kept: list[NodeProto] = []
    for node in graph.node:
        made = _of_indices(node, stored, shapes, opsets)
        if made is None:
            kept.append(node)
            continue
        stored[node.output[0]] = made
        graph.initializer.append(numpy_helper.from_array(made, node.output[0]))
    replace(graph.node, kept)
    replace(graph.value_info, [value for value in graph.value_info if value.name not in stored])


def _of_indices(
    node: NodeProto, stored: Mapping[str, Array], shapes: Mapping[str, Array], opsets: Mapping[str, int]
) -> Array | None:
    """Its result, unless it is of anything else, or may be long. Raises UnsupportedError if onnx can not."""
    if node.op_type == "Shape" and not node.attribute:
        return shapes.get(node.input[0])
    given = {name: stored[name] for name in node.input if name in stored}
    if node.op_type not in _OF_INDICES or any(name and name not in given for name in node.input):
        return None
    sizes = [max(1, array.size) for array in given.values()]
    if (sum(sizes) if node.op_type in _OF_PARTS else prod(sizes)) > MAX_INDICES:
        return None
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(cast(Any, ReferenceEvaluator(_alone(node, given, opsets))).run(None, given)[0])
    except MemoryError:
        raise
    except Exception as error:
        raise UnsupportedError(f"onnx cannot evaluate {describe(node)}: {first_line(error)}") from error
    return made if made.size <= MAX_INDICES else None


def _alone(node: NodeProto, given: Mapping[str, Array], opsets: Mapping[str, int]) -> onnx.ModelProto:
    """A model of the node: a node by itself would be one of the newest opset."""
    reads, writes = (
        [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in names]
        for names in (given, node.output)
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    return helper.make_model(helper.make_graph([node], "node", reads, writes), opset_imports=imports)


def _is_sized(value: onnx.ValueInfoProto) -> bool:
    kind = value.type.tensor_type
    return kind.HasField("shape") and all(dim.HasField("dim_value") for dim in kind.shape.dim)


def replace(field: Any, items: list[Any]) -> None:
    """Set a repeated field."""
    kept = list(items)
    del field[:]
    field.extend(kept)
