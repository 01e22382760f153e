"""torch.export and torch-mlir: the one module that touches the MLIR bindings. Runs in the worker process only.

Both entry points of torch-mlir used here are private or deprecated, so its wheel is pinned to the day. No handle to an
operation outlives a pass: reading an erased operation crashes the process.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (torch-mlir has no types)
import torch
from torch import nn
from torch.export.graph_signature import InputKind
from torch_mlir import ir
from torch_mlir.compiler_utils import TorchMlirCompilerError, run_pipeline_with_repro_report
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.source import PATH_ATTRIBUTE
from compiler.frontend.models.registry import NetworkInputs

_TORCH_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{extra-library=})"
)
_LINALG_PIPELINE = "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true})"
# xDSL does not parse the pretty forms of named operations, and the normal form wants loops anyway.
_CLEAN_PIPELINE = "builtin.module(func.func(linalg-generalize-named-ops),canonicalize,cse,canonicalize)"


@dataclass(frozen=True)
class ImportedModule:
    """`generic` for xDSL, `pretty` for people; the parameters and buffers that are the first arguments of @main."""

    generic: str
    pretty: str
    parameters: tuple[str, ...]


def import_network(network: nn.Module, inputs: NetworkInputs) -> ImportedModule:
    """Cleaned linalg of `network`, its weights as leading arguments, then its tensor inputs in order.

    Raises UnsupportedError with torch's or torch-mlir's message where the network has something they cannot lower.
    """
    program = _export(network, inputs)
    specs = program.graph_signature.input_specs
    kinds = (InputKind.PARAMETER, InputKind.BUFFER)
    parameters = tuple(cast(str, spec.target) for spec in specs if spec.kind in kinds)
    if any(spec.kind not in (*kinds, InputKind.USER_INPUT) for spec in specs):
        raise UnsupportedError("the network holds constant tensors; register them as buffers")
    _erase_unused_inputs(program.graph)
    for node in program.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        path = next(reversed(stack.values()))[0] if stack else ""
        node.meta["stack_trace"] = f'File "{path or "main"}", line 1,'  # becomes the location of what it lowers to
    generic, pretty = _lower(program.graph)
    return ImportedModule(generic, pretty, parameters)


def _export(network: nn.Module, inputs: Sequence[object]) -> torch.export.ExportedProgram:
    try:
        program = torch.export.export(network, tuple(inputs), strict=False)
        return program.run_decompositions(get_decomposition_table())
    except (RuntimeError, ValueError, TypeError) as error:
        raise UnsupportedError(f"torch.export cannot trace the network: {error}") from error


def _erase_unused_inputs(graph: torch.fx.Graph) -> None:
    """An input of None has a placeholder that torch-mlir cannot lower."""
    for node in list(graph.nodes):
        if node.op == "placeholder" and "val" in node.meta and node.meta["val"] is None:
            graph.erase_node(node)


def _lower(graph: torch.fx.Graph) -> tuple[str, str]:
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    try:
        importer.import_stateless_graph(graph, func_name="main")
        for pipeline in (_TORCH_PIPELINE, _LINALG_PIPELINE, _CLEAN_PIPELINE):
            run_pipeline_with_repro_report(importer.module, pipeline, "lowering to linalg")
    except (TorchMlirCompilerError, NotImplementedError) as error:
        raise UnsupportedError(f"torch-mlir cannot lower the network: {error}") from error
    module = importer.module.operation
    for function in module.regions[0].blocks[0].operations:
        for operation in function.regions[0].blocks[0].operations:
            _attach_path(operation.operation)
    return module.get_asm(print_generic_op_form=True), module.get_asm()


def _attach_path(operation: Any) -> None:
    found = re.search(r'"([^"]+)"', str(operation.location))
    if found and operation.name != "func.return":
        operation.attributes[PATH_ATTRIBUTE] = ir.StringAttr.get(found.group(1), operation.context)
