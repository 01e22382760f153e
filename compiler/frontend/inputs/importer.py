"""Imports any source: the table of formats. Runs in the worker, which loads torch for what was made with it only: that
takes longer than to import a small network.
"""

from collections.abc import Callable

from compiler.frontend.imported import Imported
from compiler.frontend.inputs.mlir import import_mlir_file
from compiler.frontend.inputs.onnx import import_onnx_file
from compiler.frontend.inputs.source import FileFormat, FileSource, Source, check_size
from compiler.options import Workload

OnProgress = Callable[[str], None]


def import_source(source: Source, workload: Workload, on_progress: OnProgress) -> Imported:
    """Linalg, weights, inputs and reference of `source`. Raises InvalidInputError, UnsupportedError."""
    if not isinstance(source, FileSource):
        from compiler.frontend.models.importer import import_family  # noqa: PLC0415  # loads torch

        return import_family(source, workload, on_progress)
    check_size(source.path.name, source.path.stat().st_size, source.format)
    return _IMPORTERS[source.format](source, workload.batch, on_progress)


def _import_pt2_file(source: FileSource, batch: int, on_progress: OnProgress) -> Imported:
    from compiler.frontend.inputs.exported import import_pt2_file  # noqa: PLC0415  # loads torch

    return import_pt2_file(source, batch, on_progress)


_IMPORTERS: dict[FileFormat, Callable[[FileSource, int, OnProgress], Imported]] = {
    "onnx": import_onnx_file,
    "mlir": import_mlir_file,
    "pt2": _import_pt2_file,
}
