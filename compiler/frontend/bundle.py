"""Bundles: a workload's graph, tensors and reference results as files, made once and cached by what went into them.

    graph.json     LinalgGraph           linalg.mlir   the cleaned text it came from
    tensors.npz    every value that is not intermediate, by `Value.source`
    expected.npz   the PyTorch reference, by `Output.name`
    meta.json      configuration, workload, tool versions, digests of the other files

This module never imports torch; the work is done in a process of its own.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import InvalidInputError, VerificationError
from compiler.frontend.cached import locked, unwritable
from compiler.frontend.files import EXPECTED, GRAPH, LINALG, META, TENSORS, digest_of, sources_digest, weight_files
from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.inputs.source import FileSource, Source, resolve_source, workload_of
from compiler.frontend.models.config import ModelSource, imported_parameters
from compiler.frontend.process import Importer, run_worker
from compiler.graph.layers import folded, of_inputs
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Workload, context_of

FILES = (GRAPH, LINALG, TENSORS, EXPECTED)
MAX_PARAMETER_BYTES = 8 << 30  # as f32; the importer holds them about twice
_SOURCES = ("frontend/**/*.py", "graph/linalg_graph.py", "options.py")


@dataclass(frozen=True)
class Bundle:
    """A workload that is ready to compile: layers that are alike are one in `graph` (`compiler.graph.layers`). Tensors
    are read from disk when asked for; inputs and results of a batch have a dimension for it in front.
    """

    directory: Path
    graph: LinalgGraph
    workload: Workload
    meta: dict[str, Any]

    def network(self) -> LinalgGraph:
        """What was imported, layer by layer."""
        return graph_from_json(json.loads((self.directory / GRAPH).read_text()))

    def tensors(self) -> Mapping[str, NDArray[Any]]:
        """Weights, inputs, masks and caches by `Value.source`. int4 weights lie in int8."""
        return _load(self.directory / TENSORS)

    def expected(self) -> Mapping[str, NDArray[Any]]:
        """What PyTorch computes, by `Output.name`."""
        return _load(self.directory / EXPECTED)


def import_model(
    model: str | Path | FileSource,
    workload: Workload,
    cache: Path,
    on_progress: Callable[[str], None] | None = None,
    scratch: Path | None = None,
    importer: Importer | None = None,
) -> Bundle:
    """The bundle of `workload` for a built-in model or a file, from `cache` if it is there, else made: by `importer`,
    which is of this model and works in `cache`, or in the folder `scratch` if that is on the same file system.

    `model`: see `resolve_source`; a FileSource is taken as allowed. A network from a file has one workload, see
    `workload_of`. Safe when several processes do it at once. Raises InvalidInputError for what the caller must change,
    UnsupportedError for what Millrace cannot import, ToolError where the importer failed.
    """
    source = model if isinstance(model, FileSource) else resolve_source(model)
    workload = workload_of(source, workload)
    if isinstance(source, ModelSource):
        _check_fits(source, workload)
    key = bundle_key(source, workload)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f".{key}.lock"):
            directory = cache / key
            if not _is_whole(directory):
                run = partial(run_worker, source) if importer is None else importer.run
                building = _building(directory, scratch if importer is None else importer.folder)
                _make(directory, building, lambda folder: run(workload, folder, on_progress))
    except OSError as error:
        raise unwritable(error) from error
    return load_bundle(directory)


def load_bundle(directory: Path) -> Bundle:
    """Read a bundle. Raises InvalidInputError where `directory` is none."""
    try:
        meta = json.loads((directory / META).read_text())
        network = graph_from_json(json.loads((directory / GRAPH).read_text()))
        workload = Workload(**meta["workload"])
    except (OSError, ValueError, KeyError, TypeError, VerificationError) as error:
        raise InvalidInputError(f"{directory} is not a bundle: {error}; import the model again") from error
    return Bundle(directory, planned_network(network, workload.batch), workload, meta)


def planned_network(network: LinalgGraph, batch: int) -> LinalgGraph:
    """What is planned of a network as it was imported: layers that are alike as one, or one for a batch of inputs."""
    return folded(network) or network if batch == 1 else of_inputs(network, batch)


def bundle_key(source: Source, workload: Workload) -> str:
    """Digest of everything that the bundle depends on: configuration, weights, workload, and this front end."""
    parts = {
        "name": source.name,
        **_content_of(source),
        "workload": workload.to_json(),
        "frontend": frontend_version(),
    }
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _content_of(source: Source) -> dict[str, object]:
    if isinstance(source, FileSource):
        samples = None if source.samples is None else digest_of(source.samples)
        return {"format": source.format, "file": digest_of(source.path), "samples": samples}
    weights = None if source.weights is None else [digest_of(file) for file in weight_files(source.weights)]
    return {"config": source.config.to_json(), "weights": weights}


def frontend_version() -> str:
    """Digest of the front end's sources: a changed importer never serves an old bundle."""
    return sources_digest(_SOURCES)


def _check_fits(source: ModelSource, workload: Workload) -> None:
    config = source.config
    if workload.layers > config.layers:
        raise InvalidInputError(f"layers is {workload.layers}; {source.name} has {config.layers}")
    if workload.length > (context_of(config.positions) if workload.steps else config.positions):
        raise InvalidInputError(f"length is {workload.length}; {source.name} has {config.positions} positions")
    of_layers = f"{workload.layers} layers"
    parts = {"head": "the products with the vocabulary", "token": f"{of_layers}, embedding and head"}
    what = parts.get(workload.phase, of_layers)
    if (needed := 4 * imported_parameters(config, workload.phase, workload.layers)) > MAX_PARAMETER_BYTES:
        raise InvalidInputError(
            f"{what} of {source.name} have {needed >> 20} MiB of weights; at most {MAX_PARAMETER_BYTES >> 20} MiB can "
            "be imported: use fewer layers or a smaller model"
        )


def _building(directory: Path, scratch: Path | None) -> Path:
    """Where the bundle is made: a folder from which it can be renamed."""
    if scratch is not None and scratch.stat().st_dev == directory.parent.stat().st_dev:
        return scratch / directory.name
    return directory.with_name(f".{directory.name}.building")


def _make(directory: Path, building: Path, fill: Callable[[Path], None]) -> None:
    """Build elsewhere and rename: what lies at `directory` is always whole. Called under the lock."""
    for leftover in (building, directory):
        shutil.rmtree(leftover, ignore_errors=True)
    building.mkdir()
    try:
        fill(building)
        building.rename(directory)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _is_whole(directory: Path) -> bool:
    """Whether every file has the digest that was written with it."""
    try:
        digests = json.loads((directory / META).read_text())["files"]
        return all(digest_of(directory / name) == digests[name] for name in FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _load(path: Path) -> Mapping[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path} is damaged: {error}; import the model again") from error
