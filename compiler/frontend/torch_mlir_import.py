"""ONNX and text to linalg, by torch-mlir, in the worker process only; `program_import` has programs of torch, which are
not loaded for these; `linalg_engine` runs the linalg.

The entry point of torch-mlir used here is private, so its wheel is pinned to the day. No handle to an operation
outlives a pass: reading an erased operation crashes the process.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (torch-mlir has no types)
import onnx
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.onnx_importer import Config, ModelInfo, NodeImporter, OnnxImportError
from torch_mlir.passmanager import PassManager

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.names import clean
from compiler.frontend.lowering.source import PATH_ATTRIBUTE

_ONNX_PIPELINE = "builtin.module(torch-onnx-to-torch-backend-pipeline)"
# Operators without a lowering of their own, by domain: ONNX defines them by others.
_EXPANDED = {"": {"MeanVarianceNormalization", "Swish"}}
LINALG_PIPELINE = "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true})"
# xDSL does not parse the pretty forms of named operations, and the normal form wants loops anyway.
CLEAN_PIPELINE = "builtin.module(func.func(linalg-generalize-named-ops),canonicalize,cse,canonicalize)"
# What torch-mlir's importer, which is Python, raises for a model that it did not expect.
_PYTHON_ERRORS = (NotImplementedError, LookupError, AssertionError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True)
class ImportedModule:
    """`generic` for xDSL, `pretty` for people; the parameters and buffers that are the first arguments of @main."""

    generic: str
    pretty: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class TextModule:
    """Linalg text, cleaned. `arguments` and `results` are their attributes as text, by attribute name, in order."""

    generic: str
    pretty: str
    arguments: tuple[dict[str, str], ...]
    results: tuple[dict[str, str], ...]


def import_onnx(model: onnx.ModelProto) -> ImportedModule:
    """Cleaned linalg of a checked model with inferred shapes; its inputs are the arguments, node names the paths.

    Raises UnsupportedError with torch-mlir's message where the network has something that it cannot lower.
    """
    context = ir.Context()
    torch_dialect.register_dialect(context)
    try:
        info = ModelInfo(model, config=Config(function_expansion_allowlists_by_domain=_EXPANDED))
        module = info.create_module(context=context).operation
        NodeImporter.define_function(info.main_graph, module).import_all()
        for pipeline in (_ONNX_PIPELINE, LINALG_PIPELINE, CLEAN_PIPELINE):
            run(module, pipeline)
    except (OnnxImportError, ir.MLIRError, *_PYTHON_ERRORS) as error:
        raise UnsupportedError(f"torch-mlir cannot lower the network: {first_error(error)}") from error
    return ImportedModule(*texts(module), ())


def import_text(text: str, check: Callable[[str, int, tuple[tuple[int, ...], ...]], None]) -> TextModule:
    """Linalg text as written by a person or a tool, pretty or generic, generalised and cleaned.

    `check(operation, line, result shapes)` is called for every operation before anything is done with them; what it
    raises is passed on. A line is the path of what it holds. Raises InvalidInputError where the text is not MLIR.
    """
    context = ir.Context()
    try:
        module = ir.Module.parse(text, context).operation
    except ir.MLIRError as error:
        raise InvalidInputError(f"the text is not MLIR that can be read: {first_error(error)}") from error
    for name, line, shapes in _described(module):
        check(name, line, shapes)
    functions = list(module.regions[0].blocks[0].operations)
    if len(functions) != 1 or functions[0].operation.name != "func.func" or len(functions[0].regions[0].blocks) != 1:
        raise InvalidInputError(f"the module holds {len(functions)} operations; it must hold one function, @main")
    attributes = functions[0].operation.attributes
    arguments = _attributes(attributes, "arg_attrs", len(functions[0].regions[0].blocks[0].arguments))
    results = _attributes(attributes, "res_attrs", len(functions[0].type.results))
    del functions, attributes  # no handle outlives a pass
    try:
        run(module, CLEAN_PIPELINE)
    except ir.MLIRError as error:
        raise UnsupportedError(f"the linalg cannot be generalised: {first_error(error)}") from error
    return TextModule(*texts(module), arguments, results)


def run(module: Any, pipeline: str) -> None:
    """Raises MLIRError with what the passes said."""
    with module.context:
        PassManager.parse(pipeline).run(module)


def texts(module: Any) -> tuple[str, str]:
    """The generic and the pretty text of a cleaned module, every operation with the path that it came from."""
    for function in module.regions[0].blocks[0].operations:
        for operation in function.regions[0].blocks[0].operations:
            _attach_path(operation.operation)
    return module.get_asm(print_generic_op_form=True), module.get_asm()


def _attach_path(operation: Any) -> None:
    found = re.search(r'"([^"]+)"', str(operation.location))
    line = _line(operation)
    path = f"line{line}" if line else found and found.group(1)
    if path and operation.name != "func.return":
        operation.attributes[PATH_ATTRIBUTE] = ir.StringAttr.get(clean(path, "op"), operation.context)


def _line(operation: Any) -> int:
    """The line of the text that was parsed; 0 for what was not parsed or has a name of its own."""
    found = re.match(r'loc\("-":(\d+):\d+\)', str(operation.location))
    return int(found.group(1)) if found else 0


def _described(operation: Any) -> Iterator[tuple[str, int, tuple[tuple[int, ...], ...]]]:
    """Name, line and result shapes of an operation and all inside it."""
    yield operation.name, _line(operation), tuple(_shape(r.type) for r in operation.results)
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _described(inner.operation)


def _shape(kind: Any) -> tuple[int, ...]:
    """Extents of a tensor type; a dynamic one is -1."""
    if not isinstance(kind, ir.RankedTensorType):
        return ()
    return tuple(-1 if kind.is_dynamic_dim(d) else kind.get_dim_size(d) for d in range(kind.rank))


def _attributes(attributes: Any, name: str, count: int) -> tuple[dict[str, str], ...]:
    """String attributes of arguments or results; empty where there are none."""
    if name not in attributes:
        return ({},) * count
    found: list[dict[str, str]] = []
    for entry in attributes[name]:
        named = [(entry[i].name, entry[i].attr) for i in range(len(entry))]
        found.append({key: str(value.value) for key, value in named if isinstance(value, ir.StringAttr)})
    return tuple(found)


def first_error(error: Exception) -> str:
    """The line of a long report that says what is wrong, without the operation's text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = next((line for line in lines if "error:" in line), lines[0] if lines else type(error).__name__)
    line = re.sub(r'error: "-":(\d+):\d+:', r"line \1:", line)
    return re.sub(r":\s*%\S+ = .*", "", line)[:500]
