"""One conversion, start to end: a checked model and a workload in, the files of a bundle out. Runs in the worker."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import UnsupportedError
from compiler.frontend.files import EXPECTED, GRAPH, LINALG, META, TENSORS, digest_of
from compiler.frontend.graph_json import graph_to_json
from compiler.frontend.imported import Imported, Sample
from compiler.frontend.inputs.importer import import_source
from compiler.frontend.inputs.names import explained
from compiler.frontend.inputs.source import FileSource, Source
from compiler.frontend.integers.imported import in_integers
from compiler.frontend.lowering.lower import lower
from compiler.frontend.seeds import SEED
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph, Row
from compiler.options import Workload

_SPARE_BYTES = 32 << 20  # graph and text


def convert(source: Source, workload: Workload, directory: Path, on_progress: Callable[[str], None]) -> None:
    """Write the bundle of `workload` into `directory`, which exists and is empty."""
    imported = import_source(source, workload, on_progress)
    on_progress("building the graph")
    graph = _graph(graph_name(source, workload), imported)
    found: dict[str, object] = {}
    if isinstance(source, FileSource) and (wanted := workload.precision) != "f32":
        on_progress(f"quantising to {wanted}")
        graph, imported, found = in_integers(graph, imported, wanted, source.samples, workload.ports)
    on_progress("writing the bundle")
    whole = _in_a_row(imported)
    tensors = {v.source: whole.tensors[v.source] for v in graph.values if v.source}
    _check_space(directory, [*tensors.values(), *whole.expected.values()])
    _save(directory / TENSORS, tensors)
    _save(directory / EXPECTED, whole.expected)
    (directory / LINALG).write_text(imported.pretty)
    (directory / GRAPH).write_text(json.dumps(graph_to_json(graph), indent=1, allow_nan=False))
    meta = {**_meta(source, imported, workload, graph, directory), **found}
    (directory / META).write_text(json.dumps(meta, indent=1, allow_nan=False))


def _in_a_row(imported: Imported) -> Imported:
    """Where others follow the first input, tensors and results of all, with a dimension in front."""
    if not imported.others:
        return imported
    first = Sample({name: imported.tensors[name] for name in imported.others[0].given}, imported.expected)
    samples = (first, *imported.others)
    given = {name: np.stack([sample.given[name] for sample in samples]) for name in first.given}
    expected = {name: np.stack([sample.expected[name] for sample in samples]) for name in first.expected}
    return replace(imported, tensors={**imported.tensors, **given}, expected=expected)


def graph_name(source: Source, workload: Workload) -> str:
    if isinstance(source, FileSource):
        return f"{source.name}-{workload.precision}"
    return f"{source.name}-{workload.phase}{workload.length}-{workload.precision}"


def _graph(name: str, imported: Imported) -> LinalgGraph:
    """The graph; what it cannot hold is named as in the model that was given."""
    try:
        graph = lower(name, imported.generic, imported.arguments, imported.outputs, imported.int4)
    except UnsupportedError as error:
        raise explained(error, imported.origins) from error
    for output in graph.outputs:
        if graph.value[output.value].role != "intermediate":
            raise UnsupportedError(f"the result {output.name} is {output.value} unchanged; return what is computed")
    return _with_rows(graph, imported.rows)


def _with_rows(graph: LinalgGraph, rows: Mapping[str, Row]) -> LinalgGraph:
    """The graph, in which some arguments and results are rows of tensors in memory."""
    values = tuple(replace(v, row=rows.get(v.source)) for v in graph.values)
    return replace(graph, values=values, outputs=tuple(replace(o, row=rows.get(o.name)) for o in graph.outputs))


def _check_space(directory: Path, arrays: list[NDArray[Any]]) -> None:
    """Raises OSError before the long part where the tensors alone would not fit on the disk."""
    needed = sum(array.nbytes for array in arrays) + _SPARE_BYTES
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise OSError(f"it needs {needed >> 20} MiB and {free >> 20} MiB are free")


def _save(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    np.savez(path, allow_pickle=False, **arrays)


def _parameter_bytes(graph: LinalgGraph) -> int:
    return sum(v.elements * DTYPE_BITS[v.dtype] for v in graph.values if v.role in {"param", "scalar"}) // 8


def _meta(
    source: Source, imported: Imported, workload: Workload, graph: LinalgGraph, directory: Path
) -> dict[str, object]:
    files = (GRAPH, LINALG, TENSORS, EXPECTED)
    return {
        "model": source.name,
        "config": {"format": source.format} if isinstance(source, FileSource) else source.config.to_json(),
        "weights": imported.weights,
        "reference": imported.reference,
        "seed": SEED,
        "workload": workload.to_json(),
        "operations": len(graph.ops),
        "parameter_bytes": _parameter_bytes(graph),
        "tools": {name: version(name) for name in ("torch", "torch-mlir", "onnx", "xdsl", "numpy")},
        "files": {name: digest_of(directory / name) for name in files},
    }
