"""Imports any source: the table of formats. Loads torch; runs in the worker."""

from collections.abc import Callable

from compiler.frontend.imported import Imported
from compiler.frontend.inputs.exported import import_pt2_file
from compiler.frontend.inputs.mlir import import_mlir_file
from compiler.frontend.inputs.onnx import import_onnx_file
from compiler.frontend.inputs.source import FileFormat, FileSource, Source, check_size
from compiler.frontend.models.importer import import_family
from compiler.options import Workload

_IMPORTERS: dict[FileFormat, Callable[[FileSource, Callable[[str], None]], Imported]] = {
    "onnx": import_onnx_file,
    "mlir": import_mlir_file,
    "pt2": import_pt2_file,
}


def import_source(source: Source, workload: Workload, on_progress: Callable[[str], None]) -> Imported:
    """Linalg, weights, inputs and reference of `source`. Raises InvalidInputError, UnsupportedError."""
    if not isinstance(source, FileSource):
        return import_family(source, workload, on_progress)
    check_size(source.path.name, source.path.stat().st_size, source.format)
    return _IMPORTERS[source.format](source, on_progress)
