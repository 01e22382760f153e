"""The box that a converter keeps in each round of the shared loops, and when a realisation of it works.

Two conditions: no address is written again before its last use, and what is written is there before it is read. Both
are about the extreme differences of two positions, sums over the dimensions (`compiler.graph.positions`), so they are
checked without a look at the elements.
"""

from dataclasses import dataclass
from math import gcd, lcm, prod

import numpy as np

from compiler.errors import VerificationError
from compiler.graph.itensor import Loop
from compiler.graph.positions import Positions, positions, splits
from compiler.graph.realisation import Realisation, Window


@dataclass(frozen=True, slots=True)
class Box:
    """What passes in one of `shared` rounds: `extent` elements, walked by the loops `fill` in tokens of `source`
    elements and by `drain` in tokens of `target` elements.
    """

    shared: int
    fill: tuple[Loop, ...]
    drain: tuple[Loop, ...]
    extent: tuple[int, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def fill_tokens(self) -> int:
        return prod(loop.trip for loop in self.fill)

    @property
    def drain_tokens(self) -> int:
        return prod(loop.trip for loop in self.drain)

    def whole(self, dim: int) -> int:
        """Extent along `dim` at whose multiples a token of either side ends: a fold there cuts none."""
        return lcm(self.source[dim], self.target[dim])


@dataclass(frozen=True, slots=True)
class Walks:
    """Positions of both sides in a row, along dimension d in units of `units[d]` elements."""

    fill: Positions
    drain: Positions
    units: tuple[int, ...]
    latest: tuple[int, ...]
    earliest: tuple[int, ...]

    @staticmethod
    def of(box: Box, columns: int, fill: Window, drain: Window) -> "Walks":
        units = tuple(map(gcd, box.source, box.target))
        written = positions(box.fill, fill, columns, box.extent, units)
        read = positions(box.drain, drain, columns, box.extent, units)
        differences = [r - w for r, w in zip(read.terms, written.terms, strict=True)]
        latest, earliest = (tuple(int(extreme(x)) for x in differences) for extreme in (np.max, np.min))
        return Walks(written, read, units, latest, earliest)

    def overlap(self, dim: int, more: int) -> int:
        """Columns by which the last use of an address comes after its next write, in a buffer that is `more` elements
        longer than the box along `dim`: an element takes the place of the one that far before it. At most 0 where all
        is well.
        """
        step = more // self.units[dim]
        last_use, write = self.drain.terms[dim], self.fill.terms[dim]
        folded = int((last_use[: len(last_use) - step] - write[step:]).max())
        return self.drain.base + self.drain.again - self.fill.base + sum(self.latest) - self.latest[dim] + folded

    def distance(self, iterations: int) -> int:
        """Fewest iterations from a write to the first read of it, where the drain starts `iterations` behind the row in
        which its box was filled.
        """
        return iterations + self.drain.base - self.fill.base + sum(self.earliest)


def write_to_read(box: Box, chosen: Realisation) -> int:
    """Fewest iterations between the write of a buffered element and its first read. O(sum of extents)."""
    walks = Walks.of(box, chosen.columns, chosen.fill, chosen.drain)
    return walks.distance(chosen.delay * chosen.period)


def verify_realisation(box: Box, chosen: Realisation) -> None:
    """Raise VerificationError where `chosen` does not bring every element to every token that holds it."""
    sides = (("fill", chosen.fill, box.fill), ("drain", chosen.drain, box.drain))
    for name, window, loops in sides:
        if window.tokens != (tokens := prod(loop.trip for loop in loops)):
            raise VerificationError(f"the {name} moves {window.tokens} tokens where a round has {tokens}")
        if window.start + window.steps > chosen.steps or window.each > chosen.columns:
            raise VerificationError(f"the {name} does not end within its row of {chosen.steps} x {chosen.columns}")
        if window.each not in splits(loops) and window.each != chosen.columns:
            raise VerificationError(f"the {name} moves {window.each} tokens a step; one of {splits(loops)} are whole")
    if chosen.dim >= len(box.extent):
        raise VerificationError(f"the buffer is folded along d{chosen.dim} where the box has {len(box.extent)}")
    _verify_length(box, chosen)
    distance = write_to_read(box, chosen)
    if distance < 1:
        raise VerificationError(f"an element is read {1 - distance} iterations before it can be there")


def _verify_length(box: Box, chosen: Realisation) -> None:
    extent, whole = box.extent[chosen.dim], box.whole(chosen.dim)
    boxes = {"single": (1, 1), "refill": (1, 1), "ping-pong": (2, 2), "circular": (1, 2)}[chosen.kind]
    if not boxes[0] * extent <= chosen.length <= boxes[1] * extent or chosen.length % whole:
        raise VerificationError(
            f"a {chosen.kind} buffer has a length of {chosen.length} where its box has {extent} in units of {whole}"
        )
    if chosen.delay != (0 if chosen.kind == "single" else 1):
        raise VerificationError(f"a {chosen.kind} buffer does not drain {chosen.delay} rows behind its fill")
    if chosen.kind in ("refill", "circular") and chosen.length < 2 * extent:
        walks = Walks.of(box, chosen.columns, chosen.fill, chosen.drain)
        overlap = walks.overlap(chosen.dim, chosen.length - extent)
        if overlap > 0:
            raise VerificationError(f"an element is overwritten {overlap} iterations before its last use")
