"""Programs of torch.export to linalg, by torch-mlir, in the worker process only.

The entry point of torch-mlir used here is deprecated, so its wheel is pinned to the day.
"""

from typing import Any, cast

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# (torch-mlir has no types)
import torch
from torch import nn
from torch.export.graph_signature import InputKind
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter

from compiler.errors import UnsupportedError
from compiler.frontend.models.registry import NetworkInputs
from compiler.frontend.torch_mlir_import import CLEAN_PIPELINE, LINALG_PIPELINE, ImportedModule, first_error, run, texts

_TORCH_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{extra-library=})"
)


def import_network(network: nn.Module, inputs: NetworkInputs) -> ImportedModule:
    """Cleaned linalg of `network`, its weights as leading arguments, then its tensor inputs in order.

    Raises UnsupportedError with torch's or torch-mlir's message where the network has something they cannot lower.
    """
    try:
        program = torch.export.export(network, tuple(inputs), strict=False)
    except (RuntimeError, ValueError, TypeError) as error:
        raise UnsupportedError(f"torch.export cannot trace the network: {error}") from error
    if any(spec.kind == InputKind.CONSTANT_TENSOR for spec in program.graph_signature.input_specs):
        raise UnsupportedError("the network holds constant tensors; register them as buffers")
    return import_program(program)


def import_program(program: torch.export.ExportedProgram) -> ImportedModule:
    """Cleaned linalg of an exported program: parameters, buffers and constants lead its arguments.

    Raises UnsupportedError with torch's or torch-mlir's message where the program has something they cannot lower.
    """
    try:
        program = program.run_decompositions(_decompositions())
    except (RuntimeError, ValueError, TypeError) as error:
        raise UnsupportedError(f"torch cannot decompose the network: {error}") from error
    specs = program.graph_signature.input_specs
    kinds = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    parameters = tuple(cast(str, spec.target) for spec in specs if spec.kind in kinds)
    if any(spec.kind not in (*kinds, InputKind.USER_INPUT) for spec in specs):
        raise UnsupportedError("the network takes tokens or custom objects; give it tensors only")
    _erase_unused_inputs(program.graph)
    for node in program.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        path = next(reversed(stack.values()))[0] if stack else ""
        node.meta["stack_trace"] = f'File "{path or node.name}", line 1,'  # becomes the location of what it lowers to
    generic, pretty = _lower(program.graph)
    return ImportedModule(generic, pretty, parameters)


def _decompositions() -> dict[Any, Any]:
    """torch-mlir's, but with a plain softmax for attention: the safe one only differs for rows that are all masked."""
    table = dict(get_decomposition_table())
    table[torch.ops.aten._safe_softmax.default] = _softmax
    return table


def _softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.softmax(x, dim, dtype)


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
        for pipeline in (_TORCH_PIPELINE, LINALG_PIPELINE, CLEAN_PIPELINE):
            run(importer.module.operation, pipeline)
    except (ir.MLIRError, NotImplementedError) as error:
        raise UnsupportedError(f"torch-mlir cannot lower the network: {first_error(error)}") from error
    return texts(importer.module.operation)
