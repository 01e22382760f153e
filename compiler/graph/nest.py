"""The tiled and unrolled loop nest of one operation, and the itensors that its operands stream as.

A nest is perfect and fully pipelined: tile loops outside, the loops inside a tile next, and `unroll` points of every
dimension side by side in space. Operand tokens hold the unrolled points, so a token's element shape is the unroll of
the dimensions that the operand has (paper, "Linalg to dataflow", after "vectorise").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.graph.computed_once import computed_once
from compiler.graph.hashed_once import hashed_once
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import Iterator


class NestLoop(NamedTuple):
    """One loop in time over operation dimension `dim`; advances by `step` points."""

    dim: int
    trip: int
    step: int


@hashed_once
@dataclass(frozen=True)
class Nest:
    """Loops in time, outermost first (none with a tripcount of 1), and the points of each dimension in space. Nothing
    is kept from one iteration of the first `outer` loops to the next; they lie outside of the pipeline, which drains at
    the end of each, unless it `flows`.
    """

    loops: tuple[NestLoop, ...]
    unroll: tuple[int, ...]
    outer: int = 0
    flows: bool = False

    @property
    def restarts(self) -> int:
        """Loops outside of the pipeline."""
        return 0 if self.flows else self.outer

    @computed_once
    def trips(self) -> tuple[int, ...]:
        return tuple(loop.trip for loop in self.loops)

    @computed_once
    def iterations(self) -> int:
        return prod(self.trips)

    @computed_once
    def lanes(self) -> int:
        """Points computed side by side."""
        return prod(self.unroll)

    def read_level(self, dims: Sequence[int]) -> int:
        """How many loops, from the outermost, enclose the read of an operand: inner loops reuse the token."""
        return max((k + 1 for k, loop in enumerate(self.loops) if loop.dim in dims or k < self.outer), default=0)

    @lru_cache(maxsize=65536)  # noqa: B019 # nests are few, and what they stream as is known again with all that follows
    def read_itensor(self, dims: tuple[int, ...], dtype: str) -> ITensor:
        """What an operand with map `dims` must stream as; loops it lacks re-read."""
        loops = tuple(
            Loop(loop.trip, loop.step, dims.index(loop.dim)) if loop.dim in dims else Loop(loop.trip, 1, None)
            for loop in self.loops[: self.read_level(dims)]
        )
        return ITensor(tuple(self.unroll[d] for d in dims), dtype, loops)

    @lru_cache(maxsize=65536)  # noqa: B019
    def write_itensor(self, dims: tuple[int, ...], dtype: str) -> ITensor:
        """What the output with map `dims` streams as: a token leaves when the last reduction iteration made it."""
        loops = tuple(Loop(loop.trip, loop.step, dims.index(loop.dim)) for loop in self.loops if loop.dim in dims)
        return ITensor(tuple(self.unroll[d] for d in dims), dtype, loops)

    def part_itensor(self, dims: tuple[int, ...], shape: Sequence[int], axis: int | None, dtype: str) -> ITensor:
        """What an input of a concat, or of windows, streams as: like the whole, over its own extent (of `shape`) along
        `axis`, where a single window has no loop.
        """
        whole = self.write_itensor(dims, dtype)
        if axis is None or axis not in dims:
            return whole
        part = dims.index(axis)
        loops = [Loop(shape[part], k.step, part) if k.dim == part else k for k in whole.loops]
        if all(loop.dim != axis for loop in self.loops):
            loops.insert(sum(loop.dim in dims and loop.dim < axis for loop in self.loops), Loop(shape[part], 1, part))
        return ITensor(whole.element, dtype, tuple(loop for loop in loops if loop.trip > 1))

    def reduction_loops(self, iterators: Sequence[Iterator]) -> tuple[int, ...]:
        return tuple(k for k, loop in enumerate(self.loops) if iterators[loop.dim] == "reduction")

    def accumulators(self, iterators: Sequence[Iterator]) -> int:
        """Vectors of partial results alive at once: the parallel iterations inside the outermost reduction loop."""
        reductions = self.reduction_loops(iterators)
        if not reductions:
            return 0
        inner = self.loops[reductions[0] :]
        return prod(loop.trip for loop in inner if iterators[loop.dim] == "parallel")

    def reuse_distance(self, iterators: Sequence[Iterator]) -> int:
        """Iterations between two updates of the same accumulator; bounds the initiation interval."""
        reductions = self.reduction_loops(iterators)
        return prod(self.trips[reductions[-1] + 1 :]) if reductions else self.iterations
