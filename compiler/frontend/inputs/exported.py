"""Imports a .pt2 archive of torch.export, which the operator must have allowed: loading it runs code that it names."""

import pickle
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.export.graph_signature import InputKind, OutputKind

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.imported import Imported, Sample
from compiler.frontend.inputs.names import unique_names
from compiler.frontend.inputs.program_rewrites import rewrite
from compiler.frontend.inputs.source import FileSource
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.program_import import import_program
from compiler.frontend.scan.archive import check_archive
from compiler.frontend.seeds import batch_of
from compiler.frontend.torch_types import tensor_of


def import_pt2_file(source: FileSource, batch: int, on_progress: Callable[[str], None]) -> Imported:
    """The exported program as linalg, with a `batch` of inputs. Raises InvalidInputError, UnsupportedError."""
    on_progress(f"checking {source.name}.pt2")
    check_archive(source.path)
    on_progress(f"loading {source.name}.pt2")
    program = _load(source)
    shapes = _inputs(program)
    inputs = batch_of(shapes, batch)
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        run = cast(Any, program.module())
        results = [_run(run, [tensor_of(array) for array in given.values()]) for given in inputs]
    on_progress("exporting and lowering to linalg")
    rewrite(program)
    module = import_program(program)
    stored = {name: _parameter(program, name) for name in module.parameters}
    taken: set[str] = set()
    parameters = unique_names(module.parameters, "param", taken)
    names = unique_names(shapes, "input", taken)
    outputs = unique_names((f"out{i}" for i in range(len(results[0]))), "out", taken)
    first, *others = (
        Sample(dict(zip(names, given.values(), strict=True)), dict(zip(outputs, made, strict=True)))
        for given, made in zip(inputs, results, strict=True)
    )
    return Imported(
        module.generic,
        module.pretty,
        (*(Argument(n, "param") for n in parameters), *(Argument(n, "input") for n in names)),
        tuple(outputs),
        {**dict(zip(parameters, stored.values(), strict=True)), **first.given},
        first.expected,
        weights=f"{source.name}.pt2",
        others=tuple(others),
    )


def _load(source: FileSource) -> torch.export.ExportedProgram:
    """Whatever goes wrong here is about the archive: its own code runs."""
    try:
        return torch.export.load(source.path)
    except MemoryError:
        raise
    except (pickle.UnpicklingError, Exception) as error:
        raise InvalidInputError(f"{source.name}.pt2 cannot be loaded: {str(error)[:300]}") from error


def _inputs(program: torch.export.ExportedProgram) -> dict[str, tuple[int, ...]]:
    """The shape of every input. Raises UnsupportedError for one that is no f32 tensor of fixed shape."""
    found: dict[str, tuple[int, ...]] = {}
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind != InputKind.USER_INPUT:
            continue
        name = str(getattr(spec.arg, "name", "input"))
        value = values.get(name)
        if not isinstance(value, Tensor) or value.dtype != torch.float32:
            raise UnsupportedError(f"input {name} is not a float32 tensor; start the network behind the embedding")
        if any(isinstance(extent, torch.SymInt) for extent in value.shape):
            raise UnsupportedError(f"input {name} has the dynamic shape {list(value.shape)}; export with fixed sizes")
        found[name] = tuple(value.shape)
    if any(spec.kind != OutputKind.USER_OUTPUT for spec in program.graph_signature.output_specs):
        raise UnsupportedError("the network changes its buffers or inputs; export it in evaluation mode")
    return found


def _run(run: Callable[..., Any], inputs: list[Tensor]) -> list[NDArray[Any]]:
    results = run(*inputs)
    tensors = cast(list[Tensor], [results] if isinstance(results, Tensor) else list(results))
    arrays = [t.detach().numpy() for t in tensors]
    if not all(np.isfinite(a).all() for a in arrays):
        raise InvalidInputError("a result is not finite on random inputs; check the weights")
    return arrays


def _parameter(program: torch.export.ExportedProgram, name: str) -> NDArray[Any]:
    stored = program.state_dict.get(name, program.constants.get(name))
    if not isinstance(stored, Tensor):
        raise UnsupportedError(f"{name} is not a tensor")
    array = stored.detach().numpy()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInputError(f"tensor {name} holds values that are not finite (NaN or infinite)")
    return array
