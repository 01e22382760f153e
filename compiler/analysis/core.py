"""The native core: what a search asks for most, in C++ (core/), compiled with g++ once. It is given words and numbers
as its callers lay them out.
"""

import ctypes
from array import array
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from compiler.native import built

SOURCE = Path(__file__).with_name("core")
# no contraction: a result has the same bits on every machine
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fno-exceptions")

Words: TypeAlias = "array[int]"
Numbers: TypeAlias = "array[float]"


def words(values: Iterable[int] | bytes = ()) -> Words:
    return array("q", values)


def numbers(values: Iterable[float] | bytes = ()) -> Numbers:
    return array("d", values)


def zeros(count: int) -> bytes:
    """The bytes of so many words, or numbers."""
    return bytes(8 * count)


@cache
def core() -> ctypes.CDLL:
    """The library. Raises ToolError where g++ is missing."""
    library = ctypes.CDLL(str(built(SOURCE / "core.cpp", "core.so", FLAGS)))
    library.millrace_deal.restype = ctypes.c_int64
    library.millrace_turning.restype = ctypes.c_void_p
    library.millrace_repaired.restype = ctypes.c_double
    return library


def address(values: "Words | Numbers") -> int:
    """Of values that somebody holds, and that stay as many, until the core has used them."""
    return values.buffer_info()[0]


def pointer(values: "Words | Numbers") -> ctypes.c_void_p:
    """The same, as an argument."""
    return ctypes.c_void_p(address(values))


def pointers(arrays: Iterable[NDArray[Any]]) -> list[ctypes.c_void_p]:
    """To arrays that somebody holds, of 64-bit integers or floats, each in one piece."""
    found: list[ctypes.c_void_p] = []
    for one in arrays:
        assert one.flags.c_contiguous
        assert one.itemsize == 8
        found.append(ctypes.c_void_p(one.ctypes.data))
    return found
