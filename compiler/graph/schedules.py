"""The cheapest realisation of a converter that keeps the throughput.

Row r of a schedule drains round r - 1 and fills round r, late enough in the row that it overwrites nothing too early
(`compiler.graph.box`).

A smaller buffer must be filled later in its row, and the tokens that come meanwhile wait in a FIFO, or else the tasks
around wait. So what a realisation costs is its buffer and the tokens that wait in a flow of even pace.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from math import ceil, prod
from operator import mul

from compiler.graph.box import Box, Walks
from compiler.graph.positions import splits
from compiler.graph.realisation import Realisation, RealisationKind, Window

# A realisation keeps the throughput where its run takes at most this share longer than that of a ping-pong buffer.
SLOWER = 1 / 64
# Iterations from the write of an element to its first read, so that an on-chip memory holds it by then.
WRITE_TO_READ = 2
SLOTS = 32  # into which a folded dimension is cut; finer ones save less than 1/32 of a box


@dataclass(frozen=True, slots=True)
class _Row:
    """Steps, columns and windows of a row, as a `Realisation` has them."""

    steps: int
    columns: int
    fill: Window
    drain: Window

    def realise(self, kind: RealisationKind, dim: int, length: int, delay: int = 1) -> Realisation:
        return Realisation(kind, dim, length, delay, self.steps, self.columns, self.fill, self.drain)


def paper_schedule(box: Box) -> Realisation:
    """Ping-pong over the shared rounds, or fill then drain where there is one."""
    if box.shared == 1:
        return one_after_the_other(box)
    fill, drain = box.fill_tokens, box.drain_tokens
    row = _Row(max(fill, drain), 1, Window(0, fill, 1), Window(0, drain, 1))
    return row.realise("ping-pong", 0, 2 * box.extent[0])


def one_after_the_other(box: Box) -> Realisation:
    """Fill, then drain, in each round: the only one whose round is shorter where less of it is drained."""
    fill, drain = box.fill_tokens, box.drain_tokens
    row = _Row(fill + drain, 1, Window(0, fill, 1), Window(fill, drain, 1))
    return row.realise("single", 0, box.extent[0], delay=0)


@lru_cache(maxsize=65536)
def cheapest(box: Box) -> Realisation:
    """The fewest elements in the buffer and waiting outside; among equals the fewest in the buffer, then the shortest
    run. O(loops x dimensions x (SLOTS + sum of extents)).
    """
    single = one_after_the_other(box)
    if box.shared == 1:
        return single
    rows = list(_rows(box))
    best = rows[0].realise("ping-pong", 0, 2 * box.extent[0])
    cost = _cost(box, best)
    one_box = prod(box.extent)
    if box.shared * single.period <= (box.shared + 1) * _longest(box) and _cost(box, single) < cost:
        best, cost = single, _cost(box, single)
    for row in rows:
        if (one_box + _waiting(box, row.steps, row.fill, row.drain), one_box) < cost:
            found = _folded(box, row)
            if found is not None and _cost(box, found) < cost:
                best, cost = found, _cost(box, found)
    return best


def _longest(box: Box) -> float:
    """Iterations of a row that keeps the throughput."""
    return max(box.fill_tokens, box.drain_tokens) * (1 + SLOWER)


def _waiting(box: Box, steps: int, fill: Window, drain: Window) -> int:
    """Elements of one round that wait outside while a window is closed, in a flow of even pace."""
    outside = (prod(box.source) * fill.each * fill.steps * (steps - fill.steps)) // steps
    return outside + (prod(box.target) * drain.each * drain.steps * (steps - drain.steps)) // steps


def _cost(box: Box, chosen: Realisation) -> tuple[int, int, int]:
    held = prod(box.extent) // box.extent[chosen.dim] * chosen.length
    return (
        held + _waiting(box, chosen.steps, chosen.fill, chosen.drain),
        held,
        (box.shared + chosen.delay) * chosen.period,
    )


def _rows(box: Box) -> Iterator[_Row]:
    """Rows in which the longer side moves a token in every iteration. The shorter one moves at an even pace in the
    whole row, then in ever shorter parts of it, the fill in the last and the drain in the first, so that the box is
    free for longer; and at last without a pause.
    """
    fill, drain = box.fill_tokens, box.drain_tokens
    longer, shorter = (box.drain, box.fill) if drain >= fill else (box.fill, box.drain)
    period, tokens = max(fill, drain), min(fill, drain)
    for parts in accumulate((loop.trip for loop in longer), mul, initial=1):
        if period < parts * tokens:
            break
        each = next(q for q in splits(shorter) if period % (parts * (tokens // q)) == 0)
        yield _row(drain >= fill, period, parts * (tokens // each), tokens // each, each)
    yield _row(drain >= fill, period, period, tokens, 1)


def _row(drains_always: bool, period: int, steps: int, moving: int, each: int) -> _Row:
    """The shorter side moves `each` tokens in each of `moving` steps."""
    columns = period // steps
    if drains_always:
        return _Row(steps, columns, Window(steps - moving, moving, each), Window(0, steps, columns))
    return _Row(steps, columns, Window(0, steps, columns), Window(0, moving, each))


def _folded(box: Box, row: _Row) -> Realisation | None:
    """The shortest buffer for this row that is shorter than two boxes: one box, or a ring along some dimension."""
    walks = Walks.of(box, row.columns, row.fill, row.drain)
    missing = WRITE_TO_READ - walks.distance(row.steps * row.columns)  # a later fill makes the row longer by as much
    steps = row.steps + max(0, -(-missing // row.columns))
    allowed = (int(_longest(box)) // row.columns - steps) * row.columns

    def late(overlap: int) -> _Row:
        later = max(0, -(-overlap // row.columns))
        return _Row(steps + later, row.columns, replace(row.fill, start=row.fill.start + later), row.drain)

    if allowed < 0:
        return None
    if walks.overlap(0, 0) <= allowed:
        return late(walks.overlap(0, 0)).realise("refill", 0, box.extent[0])
    found, share = None, 1.0
    for dim, extent in enumerate(box.extent):
        slot = box.whole(dim) * max(1, extent // (SLOTS * box.whole(dim)))
        lengths = range(slot, ceil(share * extent), slot)
        if lengths and _fits(walks, dim, allowed, lengths[-1]):
            more = _shortest(walks, dim, allowed, lengths)
            found, share = late(walks.overlap(dim, more)).realise("circular", dim, extent + more), more / extent
    return found


def _shortest(walks: Walks, dim: int, allowed: int, lengths: Sequence[int]) -> int:
    """The first length that fits, found by halving; the last does. The longer a buffer, the later is an address written
    again, in all but strided walks, where a longer one than need be may be found.
    """
    return lengths[bisect_left(lengths, True, hi=len(lengths) - 1, key=partial(_fits, walks, dim, allowed))]


def _fits(walks: Walks, dim: int, allowed: int, more: int) -> bool:
    return walks.overlap(dim, more) <= allowed
