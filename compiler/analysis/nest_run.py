"""One nest of a task in time, from what arrives to what it pushes, without simulating it; in core/nest_run.h.

A nest is known by its *stalls*, pairs of an iteration and the cycle before which it can not run: those where each of
its streams gives the first and the last token, and where the stream has a knee. From a stall on it runs at its own
initiation interval, and it can not run ahead of the tokens that it reads. Tokens of a stream arrive at an even pace
from the first to the first knee, from one to the next, and from there to the last; a knee is where the task that writes
them departs most from an even pace. So a converter that fills before it drains, or a cache that waits for its last row,
holds up only what comes after.

FIFOs between tasks are taken as deep enough. Those behind loads are not: while its reader stalls, a load goes on until
its FIFO and the adapter of its ports are full, and what is left then comes at its own rate.
"""

from collections.abc import Iterable
from typing import NamedTuple

from compiler.analysis.core import Words, words
from compiler.graph.passage import Passage
from compiler.graph.program import Access
from compiler.graph.task_graph import TimingSpec


class TaskTime(NamedTuple):
    """Cycles at which a task reads its first token and ends, and for how many of them it computes or moves data."""

    start: float
    end: float
    busy: float


def nest_words(timing: TimingSpec, reads: Iterable[Access], writes: Iterable[Access]) -> Words:
    """What of its run no other task and no FIFO changes, as the core reads it."""
    found = [timing.ii, timing.depth, timing.iterations, timing.latency]
    for side in (reads, writes):
        passages = [timing.passage(access) for access in side]
        found.append(len(passages))
        for passage in passages:
            found += _words_of(passage)
    return words(found)


def _words_of(passage: Passage) -> list[int]:
    inside = [number for digit in passage.digits for number in digit]
    return [passage.first, passage.last, passage.tokens, len(passage.digits), *inside]
