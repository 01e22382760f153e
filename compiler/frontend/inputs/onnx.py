"""Imports an .onnx file: initialisers become arguments, node names paths, and onnx's own evaluator the reference.

onnx.reference rather than onnxruntime: it is numpy, one line an operator, comes with the reader, and adds no second
native program that reads uploads.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, cast

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, checker, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.imported import Imported, Sample
from compiler.frontend.inputs.names import explained, unique_names
from compiler.frontend.inputs.onnx_checks import check_cost, check_indices, check_shapes, describe, last_readers
from compiler.frontend.inputs.onnx_rewrites import rewritten
from compiler.frontend.inputs.source import FileSource
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.scan.bounds import MAX_INDICES
from compiler.frontend.seeds import batch_of
from compiler.frontend.torch_mlir_import import import_onnx

Array = NDArray[Any]
REFERENCE = "onnx.reference.ReferenceEvaluator"
_INDICES = {TensorProto.INT32, TensorProto.INT64}
_OF_PARTS = {"Concat", "Reshape", "Slice", "Squeeze", "Unsqueeze"}  # results have no more elements than operands
_OF_INDICES = {*_OF_PARTS, "Abs", "Add", "Div", "Gather", "Max", "Min", "Mod", "Mul", "Neg", "Sub"}

# pyright: reportUnknownMemberType=false
# (protobuf's containers are half typed)


def import_onnx_file(source: FileSource, batch: int, on_progress: Callable[[str], None]) -> Imported:
    """The whole network of the file as linalg, with a `batch` of inputs. Raises InvalidInputError, UnsupportedError."""
    on_progress(f"reading {source.name}.onnx")
    model = _load(source)
    parameters = _parameters_as_inputs(model)
    try:
        checker.check_model(model)  # without its weights, which it would copy
    except (checker.ValidationError, ValueError) as error:
        raise InvalidInputError(f"the ONNX file is not valid: {_short(error)}") from error
    origins = _name_nodes(model)
    model = _with_shapes(model)
    shapes = {v.name: _shape(v) for v in model.graph.input if v.name not in parameters}
    inputs = batch_of(shapes, batch)
    on_progress("lowering to linalg")
    model.graph.name = "main"  # of the function
    try:
        lowered, weights = rewritten(model, parameters)
        module = import_onnx(lowered)
    except UnsupportedError as error:
        raise explained(error, origins) from error
    on_progress("running the ONNX reference")
    results = [_evaluate(model, {**parameters, **given}) for given in inputs]
    taken: set[str] = set()
    order = [v.name for v in lowered.graph.input]
    names = dict(zip(order, unique_names(order, "input", taken), strict=True))
    outputs = unique_names((o.name for o in model.graph.output), "output", taken)
    first, *others = (
        Sample({names[n]: array for n, array in given.items()}, dict(zip(outputs, made, strict=True)))
        for given, made in zip(inputs, results, strict=True)
    )
    return Imported(
        module.generic,
        module.pretty,
        tuple(Argument(names[n], "param" if n in weights else "input") for n in order),
        tuple(outputs),
        {**{names[n]: array for n, array in weights.items()}, **first.given},
        first.expected,
        weights=f"{source.name}.onnx",
        reference=REFERENCE,
        origins=origins,
        others=tuple(others),
    )


def _load(source: FileSource) -> onnx.ModelProto:
    """The file as it is: nothing beside it is read."""
    try:
        return onnx.load_model(str(source.path), format="protobuf", load_external_data=False)
    except (DecodeError, ValueError) as error:
        raise InvalidInputError(f"{source.name} is not an ONNX file: {_short(error)}") from error


def _parameters_as_inputs(model: onnx.ModelProto) -> dict[str, Array]:
    """Turn every float tensor of more than one element into an input; their values, by name.

    Scalars, integers and scales stay: shapes, axes and factors fold. Raises InvalidInputError for values that are not
    finite.
    """
    graph = model.graph
    _constants_as_initialisers(model)
    names = {t.name for t in graph.initializer}
    used = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    stored = {t.name: t for t in graph.initializer if t.name in used}
    inputs = [v for v in graph.input if v.name not in names]
    scales = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
    parameters = {name: _array(t) for name, t in stored.items() if _is_parameter(t) and name not in scales}
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(a.shape)) for n, a in parameters.items()]
    kept = [t for name, t in stored.items() if name not in parameters]
    for tensor in kept:
        _array(tensor)
    _replace(graph.input, [*inputs, *shapes])
    _replace(graph.initializer, kept)
    return parameters


def _is_parameter(tensor: TensorProto) -> bool:
    return tensor.data_type == TensorProto.FLOAT and any(extent != 1 for extent in tensor.dims)


def _constants_as_initialisers(model: onnx.ModelProto) -> None:
    kept: list[NodeProto] = []
    for node in model.graph.node:
        if node.op_type != "Constant":
            kept.append(node)
            continue
        model.graph.initializer.append(_constant(node))
    _replace(model.graph.node, kept)


def _constant(node: NodeProto) -> TensorProto:
    """The tensor of a Constant node, under the name of its result."""
    if len(node.attribute) != 1 or len(node.output) != 1:
        raise InvalidInputError(f"{describe(node)} must hold one value; export it again")
    (attribute,) = node.attribute
    value = helper.get_attribute_value(attribute)
    kinds = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    if attribute.name == "value":
        tensor = cast(TensorProto, value)
        tensor.name = node.output[0]
        return tensor
    if attribute.name not in kinds:
        raise UnsupportedError(f"{describe(node)} holds a {attribute.name}; only numbers and tensors work")
    return numpy_helper.from_array(np.asarray(value, kinds[attribute.name]), node.output[0])


def _array(tensor: TensorProto) -> Array:
    try:
        array = np.array(numpy_helper.to_array(tensor), order="C")
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"tensor {tensor.name!r} does not hold the data that it declares: {error}") from error
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInputError(f"tensor {tensor.name!r} holds values that are not finite (NaN or infinite)")
    return array


def _name_nodes(model: onnx.ModelProto) -> dict[str, str]:
    """Give every node a clean name of its own; what each is for messages, by that name."""
    nodes = model.graph.node
    origins = [f"ONNX {describe(node)}" for node in nodes]
    plain = [node.name or f"{node.op_type}_{i}" for i, node in enumerate(nodes)]
    names = unique_names(plain, "node", set())
    for node, name in zip(nodes, names, strict=True):
        node.name = name
    return dict(zip(names, origins, strict=True))


def _with_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    try:
        check_indices(_inferred(model))
        _fold_indices(model)
        _fold_indices(model, _inferred(model, data_prop=True))
        inferred = _inferred(model, data_prop=True)
    except (shape_inference.InferenceError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"the shapes of the ONNX file do not fit together: {_short(error)}") from error
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
    stored = {t.name: _array(t) for t in graph.initializer if t.data_type in _INDICES and prod(t.dims) <= MAX_INDICES}
    values = (*inferred.graph.input, *inferred.graph.value_info) if inferred else ()
    shapes = {v.name: np.array(_shape(v), np.int64) for v in values if _is_sized(v)}
    kept: list[NodeProto] = []
    for node in graph.node:
        made = _of_indices(node, stored, shapes, opsets)
        if made is None:
            kept.append(node)
            continue
        stored[node.output[0]] = made
        graph.initializer.append(numpy_helper.from_array(made, node.output[0]))
    _replace(graph.node, kept)
    _replace(graph.value_info, [value for value in graph.value_info if value.name not in stored])


def _of_indices(
    node: NodeProto, stored: Mapping[str, Array], shapes: Mapping[str, Array], opsets: Mapping[str, int]
) -> Array | None:
    """Its result, unless it is of anything else, or may be long. Raises UnsupportedError as `_evaluate`."""
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
        raise UnsupportedError(f"onnx cannot evaluate {describe(node)}: {_short(error)}") from error
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


def _shape(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(d.dim_value for d in value.type.tensor_type.shape.dim)


def _evaluate(model: onnx.ModelProto, given: Mapping[str, Array]) -> list[Array]:
    """The results of the network. Raises UnsupportedError where the evaluator cannot run it or a result is not finite.

    The evaluator is third-party code on uploaded data: whatever it raises is about this network.
    """
    try:
        with np.errstate(all="ignore"):
            results = _run(model, given)
    except MemoryError:
        raise
    except Exception as error:
        raise UnsupportedError(f"onnx cannot evaluate the network: {_short(error)}") from error
    for output, result in zip(model.graph.output, results, strict=True):
        if not np.isfinite(result).all():
            raise InvalidInputError(f"the result {output.name!r} is not finite on random inputs; check the weights")
    return [np.ascontiguousarray(r, np.float32) for r in results]


def _run(model: onnx.ModelProto, given: Mapping[str, Array]) -> list[Array]:
    """As ReferenceEvaluator.run, but forgets each value after its last reader."""
    evaluator = cast(Any, ReferenceEvaluator(model))
    values: dict[str, Any] = {"": None, **evaluator.rt_inits_, **given}
    for node, ended in zip(evaluator.rt_nodes_, last_readers(model.graph), strict=True):
        results = node.run(*(values[name] for name in node.input))
        values |= dict(zip(node.output, results, strict=False))
        for name in ended:
            values.pop(name, None)
    return [values[output.name] for output in model.graph.output]


def _replace(field: Any, items: list[Any]) -> None:
    """Set a repeated field."""
    kept = list(items)
    del field[:]
    field.extend(kept)


def _short(error: Exception) -> str:
    """The first line of a report, which says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
