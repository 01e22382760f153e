"""Imports an .onnx file: initialisers become arguments, node names paths, and onnx's own evaluator the reference.

onnx.reference rather than onnxruntime: it is numpy, one line an operator, comes with the reader, and adds no second
native program that reads uploads.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, checker, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.imported import Imported, Sample
from compiler.frontend.inputs.names import explained, unique_names
from compiler.frontend.inputs.onnx_checks import array_of, describe, first_line, last_readers, shape_of
from compiler.frontend.inputs.onnx_rewrites import rewritten
from compiler.frontend.inputs.onnx_shapes import replace, with_shapes
from compiler.frontend.inputs.source import FileSource
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.seeds import batch_of
from compiler.frontend.torch_mlir_import import import_onnx

Array = NDArray[Any]
REFERENCE = "onnx.reference.ReferenceEvaluator"

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
        raise InvalidInputError(f"the ONNX file is not valid: {first_line(error)}") from error
    origins = _name_nodes(model)
    model = with_shapes(model)
    shapes = {v.name: shape_of(v) for v in model.graph.input if v.name not in parameters}
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
        raise InvalidInputError(f"{source.name} is not an ONNX file: {first_line(error)}") from error


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
    parameters = {name: array_of(t) for name, t in stored.items() if _is_parameter(t) and name not in scales}
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(a.shape)) for n, a in parameters.items()]
    kept = [t for name, t in stored.items() if name not in parameters]
    for tensor in kept:
        array_of(tensor)
    replace(graph.input, [*inputs, *shapes])
    replace(graph.initializer, kept)
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
    replace(model.graph.node, kept)


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


def _name_nodes(model: onnx.ModelProto) -> dict[str, str]:
    """Give every node a clean name of its own; what each is for messages, by that name."""
    nodes = model.graph.node
    origins = [f"ONNX {describe(node)}" for node in nodes]
    plain = [node.name or f"{node.op_type}_{i}" for i, node in enumerate(nodes)]
    names = unique_names(plain, "node", set())
    for node, name in zip(nodes, names, strict=True):
        node.name = name
    return dict(zip(names, origins, strict=True))


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
        raise UnsupportedError(f"onnx cannot evaluate the network: {first_line(error)}") from error
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
