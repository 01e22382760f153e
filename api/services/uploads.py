"""Uploaded models: which file is what, checked at the door as far as that needs no importer, then stored by content."""

from typing import BinaryIO

from compiler.errors import UnsupportedError
from compiler.frontend.inputs.archive import check_directory
from compiler.frontend.inputs.door import check_mlir, check_onnx
from compiler.frontend.inputs.source import FORMATS, FileFormat, check_size, format_of, require_pt2
from worker.farm import Farm


def check_upload(farm: Farm, filename: str, size: int, file: BinaryIO) -> FileFormat:
    """The format of an uploaded file, by its name; its content as far as a second tells.

    Raises UnsupportedError for what is no model, holds an operator that is refused by its name, or is a .pt2 that the
    operator has not allowed; InvalidInputError where it is too large, is not what its name says, or declares too much.
    """
    form = format_of(filename)
    if form is None:
        known = ", ".join(f".{f}" for f in FORMATS)
        raise UnsupportedError(f"{filename!r} is no model; upload a config.json, or one of {known}, not packed")
    check_size(filename, size, form)
    if form == "pt2":
        require_pt2(farm.settings.allow_pt2)
        check_directory(file, filename)
    elif form == "onnx":
        check_onnx(file, filename)
    else:
        check_mlir(file, filename)
    return form


def store_upload(farm: Farm, file: BinaryIO) -> tuple[str, int]:
    """Keep the file's content; its digest and size. Raises DiskFullError."""
    file.seek(0)
    return farm.store.put_stream(file)
