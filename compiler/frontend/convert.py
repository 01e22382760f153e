"""One conversion, start to end: a checked model and a workload in, the files of a bundle out. Runs in the worker."""

import json
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from compiler.frontend.files import EXPECTED, GRAPH, LINALG, META, TENSORS, digest_of
from compiler.frontend.graph_json import graph_to_json
from compiler.frontend.lowering.lower import lower
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.registry import FAMILIES, Inputs, NetworkInputs, cache_names
from compiler.frontend.quantise import WEIGHT_BITS, QuantisedLinear, calibrate, quantised
from compiler.frontend.torch_mlir_import import import_network
from compiler.frontend.torch_types import modules_of, tensor_of
from compiler.frontend.weights import SEED, fill_from_checkpoint, fill_seeded, make_inputs
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Workload

_SPARE_BYTES = 32 << 20  # graph, text, inputs and reference results


def convert(source: ModelSource, workload: Workload, directory: Path, on_progress: Callable[[str], None]) -> None:
    """Write the bundle of `workload` into `directory`, which exists and is empty."""
    on_progress(f"building {workload.layers} layer(s) of {source.name}")
    inputs = make_inputs(source.config, workload)
    network = _build(source, workload, _tensors(inputs))
    _check_space(network, directory)
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        results = network(*_tensors(inputs))
    on_progress("exporting and lowering to linalg")
    imported = import_network(network, _tensors(inputs))
    on_progress("building the graph")
    names = ("hidden_out", *cache_names(workload.layers))
    arguments = [Argument(name, "param") for name in imported.parameters]
    arguments += [Argument(name, "state" if name in inputs.past else "input") for name in inputs.named()]
    graph = lower(graph_name(source, workload), imported.generic, arguments, names, _int4(network, workload))
    on_progress("writing the bundle")
    state = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    stored = {**state, **inputs.named()}
    _save(directory / TENSORS, {v.source: stored[v.source] for v in graph.values if v.source})
    _save(directory / EXPECTED, {name: result.numpy() for name, result in zip(names, results, strict=True)})
    (directory / LINALG).write_text(imported.pretty)
    (directory / GRAPH).write_text(json.dumps(graph_to_json(graph), indent=1, allow_nan=False))
    (directory / META).write_text(json.dumps(_meta(source, workload, graph, directory), indent=1, allow_nan=False))


def graph_name(source: ModelSource, workload: Workload) -> str:
    return f"{source.name}-{workload.phase}{workload.length}-{workload.precision}"


def _build(source: ModelSource, workload: Workload, inputs: NetworkInputs) -> nn.Module:
    """The reference network with its weights, quantised if the workload asks for it."""
    family = FAMILIES[source.config.model_type]
    network = family.build(source.config, workload.layers).eval()
    if source.weights is None:
        fill_seeded(network, family, source.config)
    else:
        fill_from_checkpoint(network, family, source.weights)
    if workload.precision == "f32":
        return network
    return quantised(network, calibrate(network, inputs), WEIGHT_BITS[workload.precision]).eval()


def _check_space(network: nn.Module, directory: Path) -> None:
    """Raises OSError before the long part where the weights alone would not fit on the disk."""
    needed = sum(tensor.nbytes for tensor in network.state_dict().values())
    free = shutil.disk_usage(directory).free
    if free < needed + _SPARE_BYTES:
        raise OSError(f"{directory} needs {(needed + _SPARE_BYTES) >> 20} MiB and has {free >> 20} MiB free")


def _save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    np.savez(path, allow_pickle=False, **arrays)


def _tensors(inputs: Inputs) -> NetworkInputs:
    mask = None if inputs.mask is None else tensor_of(inputs.mask)
    return tensor_of(inputs.hidden), mask, tuple(tensor_of(p) for p in inputs.past.values())


def _int4(network: nn.Module, workload: Workload) -> list[str]:
    """Names of the weights whose integers fit four bits."""
    if WEIGHT_BITS.get(workload.precision) != 4:
        return []
    return [f"{name}.weight" for name in modules_of(network, QuantisedLinear)]


def _parameter_bytes(graph: LinalgGraph) -> int:
    return sum(v.elements * DTYPE_BITS[v.dtype] for v in graph.values if v.role in {"param", "scalar"}) // 8


def _meta(source: ModelSource, workload: Workload, graph: LinalgGraph, directory: Path) -> dict[str, object]:
    files = (GRAPH, LINALG, TENSORS, EXPECTED)
    return {
        "model": source.name,
        "config": source.config.to_json(),
        "weights": "seeded" if source.weights is None else "model.safetensors",
        "seed": SEED,
        "workload": workload.to_json(),
        "operations": len(graph.ops),
        "parameter_bytes": _parameter_bytes(graph),
        "tools": {name: version(name) for name in ("torch", "torch-mlir", "xdsl", "numpy")},
        "files": {name: digest_of(directory / name) for name in files},
    }
