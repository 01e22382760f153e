"""When the elements of a box pass, separately for each of its dimensions.

The tokens of one round count through its loops, so the number of the token that holds an element is a sum of one
term for each loop, and each loop walks one dimension. Maxima and minima over all elements of differences between two
such numbers are therefore sums of those over each dimension alone: O(sum of extents), not O(their product).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.graph.itensor import Loop
from compiler.graph.realisation import Window

Terms = NDArray[np.int64]


@dataclass(frozen=True)
class Positions:
    """Iteration within a row of the first pass of each element: `base` plus `terms[d]` at its offset in dimension d,
    in units of a common granule. Its last pass is `again` iterations later.
    """

    base: int
    again: int
    terms: tuple[Terms, ...]


def positions(
    loops: Sequence[Loop], window: Window, columns: int, extent: Sequence[int], granule: Sequence[int]
) -> Positions:
    """Positions of a round's tokens. `window.each` must end at a digit of the loops (see `splits`)."""
    offsets = [np.arange(0, e, g) for e, g in zip(extent, granule, strict=True)]
    terms = [np.zeros(len(o), np.int64) for o in offsets]
    again, stride = 0, 1
    for loop in reversed(loops):
        if loop.dim is None:
            again += _columns((loop.trip - 1) * stride, window.each, columns)
        else:
            token = offsets[loop.dim] // loop.step % loop.trip * stride
            terms[loop.dim] += token // window.each * columns + token % window.each
        stride *= loop.trip
    return Positions(window.start * columns, again, tuple(terms))


def _columns(token: int, each: int, columns: int) -> int:
    return token // each * columns + token % each


def splits(loops: Sequence[Loop]) -> list[int]:
    """Numbers of tokens, ascending, after which a round's count carries from one digit to the next, where a loop may be
    cut in two: a step of a window may hold any of these, then the digits' terms still add up.
    """
    found, inner = [1], 1
    for loop in reversed(loops):
        found += [inner * k for k in range(2, loop.trip + 1) if loop.trip % k == 0]
        inner *= loop.trip
    return found
