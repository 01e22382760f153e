"""Calibration data: what a network reads when it is used, in an `.npz`, an array of each input by its name.

Nothing in the file is believed. The list of its members is checked as that of any archive, no array is unpickled, and
none is read whose header does not say what the input is: f32 or f64, of its shape, or of so many samples of it.
"""

import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from compiler.errors import InvalidInputError
from compiler.frontend.scan.archive import checked_directory
from compiler.frontend.scan.bounds import MAX_SAMPLES, MAX_SAMPLES_BYTES

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]


def read_samples(path: Path, inputs: Shapes) -> list[dict[str, Array]]:
    """The samples in the file, each with a tensor of every input as f32. Raises InvalidInputError that names what is
    wrong.
    """
    name = path.name
    with path.open("rb") as file, checked_directory(file, name, MAX_SAMPLES_BYTES) as archive:
        given = {member: member.removesuffix(".npy") for member in archive.namelist()}
        if set(given.values()) != set(inputs) or len(given) != len(inputs):
            raise InvalidInputError(
                f"{name} must hold an array of each input, and nothing else: {', '.join(sorted(inputs))}; "
                f"it holds {', '.join(sorted(given.values())[:20])[:200] or 'nothing'}"
            )
        arrays = {of: _array(archive, member, f"{of} in {name}", inputs[of]) for member, of in given.items()}
    counts = {of: len(array) for of, array in arrays.items()}
    if len(set(counts.values())) != 1:
        raise InvalidInputError(f"{name} has different numbers of samples: {counts}; give as many of each input")
    (count,) = set(counts.values())
    return [{of: array[number] for of, array in arrays.items()} for number in range(count)]


def _array(archive: ZipFile, member: str, what: str, shape: tuple[int, ...]) -> Array:
    """Samples of an input, [samples, *shape]."""
    try:
        with archive.open(member) as stream:
            count, dtype = _header(stream, what, shape)
            size = count * prod(shape) * dtype.itemsize
            content = stream.read(size + 1)
    except (BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise InvalidInputError(f"{what} is damaged: {error}; write it with numpy.savez") from error
    if len(content) != size:
        raise InvalidInputError(f"{what} does not have the data that it declares; write it with numpy.savez")
    with np.errstate(over="ignore"):
        array = np.frombuffer(content, dtype).reshape(count, *shape).astype(np.float32)
    if not np.isfinite(array).all():
        raise InvalidInputError(f"{what} holds values that are not finite in f32")
    return array


def _header(stream: IO[bytes], what: str, shape: tuple[int, ...]) -> tuple[int, np.dtype[Any]]:
    """How many samples there are, and their type."""
    try:
        version = npy.read_magic(stream)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        found, in_fortran_order, dtype = read(stream)
    except (ValueError, KeyError, SyntaxError, MemoryError, RecursionError) as error:
        raise InvalidInputError(f"{what} is no array of numpy; write it with numpy.savez") from error
    count = _count(found, shape)
    if not 1 <= count <= MAX_SAMPLES:
        raise InvalidInputError(
            f"{what} has shape {list(found)[:9]}; it must be {list(shape)}, or so many of them, 1 to {MAX_SAMPLES}"
        )
    if dtype not in (np.dtype("<f4"), np.dtype("<f8")) or in_fortran_order:
        raise InvalidInputError(f"{what} is {str(dtype)[:40]}; it must be float32 or float64, in C order")
    return count, dtype


def _count(found: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Samples of that shape in an array: one, or as many as a dimension more says, or one in place of a batch of one;
    of another array none.
    """
    if found == shape:
        return 1
    if found[1:] == shape or (shape[:1] == (1,) and found[1:] == shape[1:]):
        return found[0]
    return 0
