"""The exact requirement of a converter: the most elements alive at once (design 3.2).

Tokens are read as late as possible: before target token j leaves, the source was read up to R(j), the last token that
holds an element of target tokens 0 .. j. An element is alive at j when it was read and target token j or a later one
holds it.

One round of the shared outer loops is enough. In every round both sides pass the same box, so before the first token of
a round all earlier boxes are dead and nothing of this one was read; and the walks inside are the same in all rounds.
Alive at j are the elements of R(j) + 1 source tokens less those of the target tokens that passed for the last time
before j. Of a loop that re-reads only the first and the last pass matter: in the first it reads, in the last it frees.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from compiler.graph.box import Box
from compiler.graph.itensor import Loop
from compiler.graph.positions import positions
from compiler.graph.realisation import Window


def _on_axis(values: NDArray[np.int64], axis: int, axes: int) -> NDArray[np.int64]:
    return values.reshape([-1 if k == axis else 1 for k in range(axes)])


def _last_needed(box: Box, drain: Sequence[Loop]) -> NDArray[np.int64]:
    """Number of the last source token that each target token of `drain` needs, one axis for each loop."""
    tokens = box.fill_tokens
    terms = positions(box.fill, Window(0, 1, tokens), tokens, box.extent, (1,) * len(box.extent)).terms
    needed = np.zeros([loop.trip for loop in drain], np.int64)
    for dim, size in enumerate(box.target):
        last = terms[dim].reshape(-1, size).max(axis=1)
        offset = np.zeros([1] * len(drain), np.int64)
        for k, loop in enumerate(drain):
            if loop.dim == dim:
                offset = offset + _on_axis(np.arange(loop.trip) * (loop.step // size), k, len(drain))
        needed = needed + last[offset]
    return needed


@lru_cache(maxsize=4096)
def most_alive(box: Box) -> int:
    """Elements. O(tokens of the target in a round, two passes of each re-read), in numpy; O(1) where a round is re-read
    as a whole: then everything was read before the last pass frees the first element.
    """
    if box.drain and box.drain[0].dim is None:
        return prod(box.extent)
    drain = tuple(Loop(min(loop.trip, 2), 1, None) if loop.dim is None else loop for loop in box.drain)
    read = np.maximum.accumulate(_last_needed(box, drain).reshape(-1)) + 1
    freed = np.ones([loop.trip for loop in drain], np.int64)
    for k, loop in enumerate(drain):
        if loop.dim is None:
            freed = freed * _on_axis((np.arange(loop.trip) == loop.trip - 1).astype(np.int64), k, len(drain))
    dead = np.cumsum(freed.reshape(-1)) - freed.reshape(-1)
    return int((read * prod(box.source) - dead * prod(box.target)).max())
