"""Iterative tensors: a tensor as the order in which its elements pass a stream (paper section 3, design 3.1).

    itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>

is the loop nest

    for d0 in 0, 2, 4, 6:  for d1 in 0, 4:  push data[d1 : d1+4, d0 : d0+2]

A loop that the map does not use re-reads. Several loops may walk one data dimension (a tile loop and the loop inside
the tile); its offset is their sum. Everything here is exact integer mathematics on frozen values, used by the IR and
by the search alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from compiler.errors import VerificationError
from compiler.graph.computed_once import computed_once
from compiler.graph.hashed_once import hashed_once

DTYPE_BITS = {"f32": 32, "i64": 64, "i32": 32, "i8": 8, "i4": 4, "i1": 1}


class Loop(NamedTuple):
    """One loop of the iteration space: takes 0, step, ..., (trip-1)*step and adds that to the offset of `dim`.

    `dim` None re-reads; its step is 1 by convention. A tuple, because the search makes, hashes and compares more of
    these than of anything else.
    """

    trip: int
    step: int
    dim: int | None


StreamKey = tuple[tuple[int, ...], str, tuple[Loop, ...]]


@hashed_once
@dataclass(frozen=True)
class ITensor:
    """An iterative tensor: `element` is the shape of one token in elements, `loops` the order, outermost first."""

    element: tuple[int, ...]
    dtype: str
    loops: tuple[Loop, ...]

    @computed_once
    def shape(self) -> tuple[int, ...]:
        """Data space: offset at the last iteration plus the element extent (paper notes, "Types and operations")."""
        extent = list(self.element)
        for loop in self.loops:
            if loop.dim is not None:
                extent[loop.dim] += (loop.trip - 1) * loop.step
        return tuple(extent)

    @computed_once
    def tokens(self) -> int:
        """How many tokens pass, re-reads included."""
        return prod(loop.trip for loop in self.loops)

    @computed_once
    def width(self) -> int:
        """Bits of one token."""
        return prod(self.element) * DTYPE_BITS[self.dtype]

    @computed_once
    def rereads(self) -> int:
        """How often each element passes."""
        return prod(loop.trip for loop in self.loops if loop.dim is None)

    @computed_once
    def canonical(self) -> tuple[Loop, ...]:
        """Loops without trips of 1, neighbours merged where two loops walk as one. Streams are equal iff these are."""
        merged: list[Loop] = []
        for loop in self.loops:
            if loop.trip == 1:
                continue
            outer = merged[-1] if merged else None
            if (
                outer is not None
                and outer.dim == loop.dim
                and (loop.dim is None or outer.step == loop.trip * loop.step)
            ):
                merged[-1] = Loop(outer.trip * loop.trip, loop.step, loop.dim)
            else:
                merged.append(loop)
        return tuple(merged)

    @computed_once
    def key(self) -> StreamKey:
        """Equal for exactly the itensors that push the same tokens in the same order."""
        return self.element, self.dtype, self.canonical

    def same_stream(self, other: "ITensor") -> bool:
        """Whether the two push the same tokens in the same order, so that a FIFO connects them."""
        return self.element == other.element and self.dtype == other.dtype and self.canonical == other.canonical

    def without_rereads(self) -> "ITensor":
        return self._once

    @computed_once
    def _once(self) -> "ITensor":
        return ITensor(self.element, self.dtype, tuple(loop for loop in self.loops if loop.dim is not None))

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Reference semantics: the data offset of each token, in order. O(tokens); for tests and packing."""
        for index in product(*(range(loop.trip) for loop in self.loops)):
            offset = [0] * len(self.element)
            for i, loop in zip(index, self.loops, strict=True):
                if loop.dim is not None:
                    offset[loop.dim] += i * loop.step
            yield tuple(offset)

    def verify(self) -> None:
        """Raise VerificationError unless this streams a whole tensor, each element as often as any other."""
        if self.dtype not in DTYPE_BITS:
            raise VerificationError(f"{self}: unknown element type {self.dtype}; known are {', '.join(DTYPE_BITS)}")
        if any(e < 1 for e in self.element) or any(loop.trip < 1 or loop.step < 1 for loop in self.loops):
            raise VerificationError(f"{self}: element extents, tripcounts and steps must be at least 1")
        if any(loop.dim is not None and not 0 <= loop.dim < len(self.element) for loop in self.loops):
            raise VerificationError(f"{self}: iter_map has more results than the element has dimensions")
        for dim, extent in enumerate(self.element):
            for loop in sorted((k for k in self.loops if k.dim == dim and k.trip > 1), key=lambda k: k.step):
                if loop.step != extent:
                    raise VerificationError(
                        f"{self}: dimension {dim} advances by {loop.step} where {extent} elements are covered; "
                        "a stream of the whole tensor has neither gaps nor overlaps"
                    )
                extent *= loop.trip

    def __str__(self) -> str:
        element = "".join(f"{e}x" for e in self.element) + self.dtype
        trips = ",".join(str(loop.trip) for loop in self.loops)
        steps = ",".join(str(loop.step) for loop in self.loops)
        dims = ",".join(f"d{k}" for k in range(len(self.loops)))
        results = ",".join(
            "+".join(f"d{k}" for k, loop in enumerate(self.loops) if loop.dim == dim) or "0"
            for dim in range(len(self.element))
        )
        return f"itensor<{element}, iter_space: [{trips}]*[{steps}], iter_map: ({dims})->({results})>"
