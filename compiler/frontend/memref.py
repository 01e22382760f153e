"""Copies between MLIR's strided buffers: the function that code of the ExecutionEngine calls for a concatenation."""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Unranked(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int64), ("descriptor", ctypes.c_void_p)]  # ctypes wants a list


_COPY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(_Unranked), ctypes.POINTER(_Unranked))


def memref_copy() -> Any:
    """A C function `memrefCopy(element bytes, source, target)`; keep it alive while the code may call it."""
    return _COPY(_copy)


def _copy(size: int, source: Any, target: Any) -> None:
    view(target.contents, size)[...] = view(source.contents, size)


def view(memref: Any, size: int) -> NDArray[np.void]:
    """The buffer as an array of elements of `size` bytes. A descriptor is: two pointers, offset, extents, strides."""
    rank = int(memref.rank)
    words = (ctypes.c_int64 * (3 + 2 * rank)).from_address(memref.descriptor)
    shape, strides = words[3 : 3 + rank], words[3 + rank :]
    if 0 in shape:
        return np.zeros(shape, f"V{size}")
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    data = (ctypes.c_char * (extent * size)).from_address(words[1] + words[2] * size)
    flat = np.frombuffer(memoryview(data), f"V{size}")
    return np.lib.stride_tricks.as_strided(flat, shape, [s * size for s in strides])
