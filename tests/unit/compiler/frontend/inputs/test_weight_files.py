"""Safetensors files whose header lies about where the data is."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler.errors import InvalidInputError


def safetensors(path: Path, offsets: dict[str, tuple[int, int]], size: int, **changes: Any) -> Path:
    """A file of `size` bytes of data with f32 tensors of 4 elements at `offsets`."""
    entry = {"dtype": "F32", "shape": [4]}
    header = {name: {**entry, "data_offsets": list(at), **changes} for name, at in offsets.items()}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(size))
    return path


def read(path: Path) -> None:
    from compiler.frontend.checkpoint import open_checkpoint

    with open_checkpoint(path, ("",)) as checkpoint:
        checkpoint.tensor("a", (4,))


def test_good(tmp_path: Path) -> None:
    read(safetensors(tmp_path / "w.safetensors", {"a": (0, 16), "b": (16, 32)}, 32))


@pytest.mark.parametrize(
    ("offsets", "size"),
    [
        ({"a": (0, 16), "b": (8, 24)}, 24),  # overlapping
        ({"a": (0, 16), "b": (0, 16)}, 16),  # the same twice
        ({"a": (16, 32)}, 32),  # a hole
        ({"a": (0, 16)}, 8),  # beyond the end
        ({"a": (0, 16)}, 64),  # data that nobody declares
        ({"a": (16, 0)}, 16),  # backwards
        ({"a": (0, 2**40)}, 16),
        ({"a": (-16, 0)}, 16),
        ({"a": (0, 12)}, 12),  # less than its shape
    ],
)
def test_offsets_that_lie(tmp_path: Path, offsets: dict[str, tuple[int, int]], size: int) -> None:
    with pytest.raises(InvalidInputError, match="safetensors"):
        read(safetensors(tmp_path / "w.safetensors", offsets, size))


@pytest.mark.parametrize("shape", [[2**40], [-4], [4, 2**62, 4], "4"])
def test_shapes_that_lie(tmp_path: Path, shape: Any) -> None:
    with pytest.raises(InvalidInputError):
        read(safetensors(tmp_path / "w.safetensors", {"a": (0, 16)}, 16, shape=shape))


def test_truncated(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "w.safetensors", {"a": (0, 16)}, 16)
    content = path.read_bytes()
    for length in (0, 4, 8, 20, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidInputError):
            read(path)
