"""Reading tensors of a safetensors checkpoint, one file or several: sizes first, so that nothing is read on a lie."""

import json
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from compiler.errors import InvalidInputError
from compiler.frontend.files import weight_files

MAX_WEIGHT_BYTES = 16 << 30  # of all files together
MAX_HEADER_BYTES = 64 << 20
_FLOATS = {"F32", "F16", "BF16"}


@dataclass
class Checkpoint:
    """An open checkpoint. A tensor is found below one of `prefixes`."""

    path: Path
    prefixes: Sequence[str]
    headers: dict[Path, dict[str, Any]]
    files: dict[Path, Any] = field(default_factory=dict[Path, Any])  # safetensors has no types

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """The tensor as f32. Raises InvalidInputError where it is missing or of another shape or type."""
        file, stored = self._find(name)
        self._check(self.headers[file][stored], stored, shape)
        try:
            return cast(Tensor, self.files[file].get_tensor(stored)).to(torch.float32)
        except (SafetensorError, OSError) as error:
            raise _unreadable(file, error) from error

    def _find(self, name: str) -> tuple[Path, str]:
        for stored in (f"{prefix}{name}" for prefix in (*self.prefixes, "")):
            for file, header in self.headers.items():
                if stored in header:
                    return file, stored
        raise InvalidInputError(f"{self.path} has no tensor {name}; its config.json describes another model")

    def _check(self, entry: object, stored: str, shape: tuple[int, ...]) -> None:
        fields = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
        dtype, found = fields.get("dtype"), fields.get("shape")
        if found != list(shape) or dtype not in _FLOATS:
            raise InvalidInputError(
                f"{self.path}: tensor {stored} is {dtype} {found}; the configuration needs {list(shape)} of "
                f"{', '.join(sorted(_FLOATS))}"
            )


@contextmanager
def open_checkpoint(path: Path, prefixes: Sequence[str]) -> Generator[Checkpoint]:
    """The checkpoint at `path`, a safetensors file or an index of several beside it. Raises InvalidInputError."""
    files = weight_files(path)
    if (size := sum(file.stat().st_size for file in files)) > MAX_WEIGHT_BYTES:
        raise InvalidInputError(f"{path} has {size} bytes of weights; at most {MAX_WEIGHT_BYTES} are accepted")
    checkpoint = Checkpoint(path, prefixes, {file: read_header(file) for file in files})
    with ExitStack() as stack:
        for file in files:
            try:
                checkpoint.files[file] = stack.enter_context(cast(Any, safe_open(file, "pt")))
            except (SafetensorError, OSError) as error:
                raise _unreadable(file, error) from error
        yield checkpoint


def read_header(path: Path) -> dict[str, Any]:
    """The checked header of a safetensors file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(MAX_HEADER_BYTES, size - 8):
            raise InvalidInputError(f"{path} is not a safetensors file: its header claims {length} bytes of {size}")
        text = file.read(length)
    try:
        header: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not a safetensors file: its header is not JSON") from error
    if not isinstance(header, dict):
        raise InvalidInputError(f"{path} is not a safetensors file: its header is not an object")
    return cast(dict[str, Any], header)


def _unreadable(path: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{path} is not a readable safetensors file: {error}")
