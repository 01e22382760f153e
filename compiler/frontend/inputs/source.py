"""Where a model comes from: a network family with its configuration, or a file that holds a whole network."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.models.config import ModelSource, config_from_fields, resolve_model
from compiler.frontend.scan.bounds import MAX_MLIR_BYTES, MAX_ONNX_BYTES, MAX_PT2_BYTES
from compiler.options import INTEGER_CACHES, Precision, Workload

FileFormat = Literal["onnx", "mlir", "pt2"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
MAX_FILE_BYTES: dict[FileFormat, int] = {"onnx": MAX_ONNX_BYTES, "mlir": MAX_MLIR_BYTES, "pt2": MAX_PT2_BYTES}

# What the operator must know before allowing it; the command line prints it.
PT2_WARNING = (
    "a .pt2 archive holds pickled objects, and loading it runs whatever code they name, with the rights of this user"
)


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file with a whole network of fixed shapes. `name` is what it is called by, whatever the file is called.
    `samples`: an `.npz` with what it reads when it is used, to calibrate its integers with.
    """

    name: str
    path: Path
    format: FileFormat
    samples: Path | None = None

    def in_precision(self, precision: Precision) -> "FileSource":
        """As it is imported: samples that are stored with a network are for its integers alone."""
        return replace(self, samples=None) if precision == "f32" else self


Source = ModelSource | FileSource


def resolve_source(model: str | Path, allow_pt2: bool = False) -> Source:
    """A built-in name, or the path to a config.json (or its folder), an .onnx, an .mlir, or, if allowed, a .pt2.

    Raises InvalidInputError where there is no such file or it is too large, UnsupportedError for a .pt2 that the
    operator has not allowed.
    """
    path = Path(model)
    form = format_of(path.name)
    if form is None:
        return resolve_model(model)
    if not path.is_file():
        raise InvalidInputError(f"there is no file {path}; name an existing {', '.join(f'.{f}' for f in FORMATS)}")
    check_size(path.name, path.stat().st_size, form)
    if form == "pt2":
        require_pt2(allow_pt2)
    return FileSource(model_name(path), path, form)


def is_format(kind: str) -> TypeGuard[FileFormat]:
    return kind in FORMATS


def format_of(filename: str) -> FileFormat | None:
    """The format that a file's name claims; None where it is not one of ours."""
    suffix = Path(filename).suffix.lower().removeprefix(".")
    return suffix if is_format(suffix) else None


def model_name(path: Path) -> str:
    """The name of a network from that of its file: plain characters only, as it ends up in paths and reports."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", path.stem).lstrip("._+-")[:100] or "model"


def check_size(filename: str, size: int, form: FileFormat) -> None:
    """Raises InvalidInputError where a file of `size` bytes is larger than its format may be."""
    if size > (most := MAX_FILE_BYTES[form]):
        raise InvalidInputError(f"{filename} has {size >> 20} MiB; an .{form} file may have {most >> 20} MiB")


def require_pt2(allowed: bool) -> None:
    """Raises UnsupportedError unless the operator has allowed .pt2 archives."""
    if not allowed:
        raise UnsupportedError(
            f"{PT2_WARNING}; it was refused without opening it. Export the network to ONNX, or have the operator "
            "allow it for files that you trust: --allow-pt2, or MILLRACE_ALLOW_PT2=true for the service"
        )


def whole_network(name: str) -> Workload:
    """The workload of a network from a file: its shapes are in the file, so it has no phase, length or layers. It is
    compiled as it is, unless another precision is asked for.
    """
    return Workload(name, "prefill", 1, "f32")


def workload_of(source: Source, asked: Workload) -> Workload:
    """The workload that is imported for `asked`. Raises InvalidInputError for what a file's network cannot be.

    Phase and length of a network from a file are those that it was exported with.
    """
    if isinstance(source, ModelSource):
        if asked.batch != 1:
            raise InvalidInputError(f"batch is {asked.batch}; {source.name} takes one input, only files take several")
        if asked.ports != "f32":
            raise InvalidInputError(
                f"ports of integers are those of a network from a file; those of {source.name} are f32"
            )
        return asked
    if asked.layers != 1:
        raise InvalidInputError(f"{source.name} comes from an .{source.format} file: layers must be 1")
    if asked.precision in INTEGER_CACHES:
        raise InvalidInputError(
            f"{source.name} comes from an .{source.format} file, whose attention is not known as such: choose another "
            "precision, as w8a8 or w4a8"
        )
    if source.samples is not None and asked.precision == "f32":
        raise InvalidInputError("samples calibrate integers, and the precision is f32: choose w8a8 or w4a8")
    if asked.ports == "i8" and asked.precision == "f32":
        raise InvalidInputError("ports of integers are those of w8a8 and w4a8, and the precision is f32")
    return replace(whole_network(source.name), precision=asked.precision, batch=asked.batch, ports=asked.ports)


def source_to_json(source: Source) -> dict[str, Any]:
    """For the request to the importer's process."""
    if isinstance(source, FileSource):
        samples = None if source.samples is None else str(source.samples.resolve())
        return {"name": source.name, "file": str(source.path.resolve()), "format": source.format, "samples": samples}
    weights = None if source.weights is None else str(source.weights.absolute())
    return {"name": source.name, "config": source.config.to_json(), "weights": weights}


def source_from_json(data: dict[str, Any]) -> Source:
    """The inverse of `source_to_json`; a configuration is checked again."""
    if "file" in data:
        samples = Path(data["samples"]) if data["samples"] else None
        return FileSource(data["name"], Path(data["file"]), data["format"], samples)
    return ModelSource(
        data["name"], config_from_fields(data["config"]), Path(data["weights"]) if data["weights"] else None
    )
