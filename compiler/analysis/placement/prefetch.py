"""How deep the FIFOs behind HBM are, so that weights load while other tasks compute.

A load starts with its kernel and waits when its FIFO is full. What the FIFO does not hold when the reader starts comes
while it reads; if that takes longer than the reading itself, the reader waits. A stream therefore needs

    tokens x (1 - time to read / time to load),   and no more than   tokens x start of the reader / time to load,

which is what can be there by then, less what the adapter of the ports holds. The budget goes first where a bit on chip
hides most cycles of loading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor

from compiler.analysis.nest_run import TaskTime
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import adapter_tokens
from compiler.graph.program import Access
from compiler.graph.task_graph import LoadTask, Stream, Task, TaskGraph
from compiler.platforms.platform import Platform

Times = Mapping[str, TaskTime]


@dataclass(frozen=True, slots=True)
class _Need:
    """Tokens that a stream should hold beyond its depth, and the cycles of loading that one bit of them hides."""

    stream: Stream
    tokens: int
    cycles_per_bit: float

    @property
    def bits(self) -> int:
        return self.tokens * self.stream.width


def _need(stream: Stream, load: LoadTask, tasks: TaskGraph, platform: Platform, times: Times) -> _Need | None:
    reader = tasks.task[stream.target]
    (access,) = [read for read in reader.reads if read.stream == stream.name]
    loading = times[load.name].busy
    first = times[reader.name].start + reader.timing.first(access) * reader.timing.ii
    late = 1.0 - _reading(reader, access) / loading
    wanted = min(ceil(stream.tokens * late), floor(stream.tokens * first / loading), stream.tokens)
    extra = wanted - stream.depth - adapter_tokens(load, platform)
    return _Need(stream, extra, loading / stream.tokens / stream.width) if extra > 0 else None


def _reading(reader: Task, access: Access) -> float:
    """Cycles between the first and the last token that the reader takes when nothing blocks."""
    timing = reader.timing
    return float((timing.last(access) - timing.first(access) + 1) * timing.ii)


def prefetch_depths(tasks: TaskGraph, platform: Platform, bits: int) -> dict[str, int]:
    """Depth of each FIFO behind HBM that gains from more than it has, with at most `bits` added to all of them; streams
    that are not named keep theirs. O(streams x loops).

    `tasks` has the depths that progress needs; its estimate says when each reader starts. What a load brings behind
    others has come to the FIFOs of these before it is asked for: a joint load gains nothing.
    """
    if bits <= 0:
        return {}
    times, _ = schedule(tasks, platform)
    sources = ((stream, tasks.task[stream.source]) for stream in tasks.streams)
    loaded = ((stream, load) for stream, load in sources if isinstance(load, LoadTask) and len(load.writes) == 1)
    found = (_need(s, load, tasks, platform, times) for s, load in loaded)
    needs = [need for need in found if need is not None]
    return _shared(needs, bits)


def _shared(needs: Sequence[_Need], bits: int) -> dict[str, int]:
    """Most cycles a bit first; streams that gain alike share in proportion to their need."""
    depths: dict[str, int] = {}
    ordered = sorted(needs, key=lambda need: (-need.cycles_per_bit, need.stream.name))
    for _, group in groupby(ordered, key=lambda need: need.cycles_per_bit):
        alike = list(group)
        wanted = sum(need.bits for need in alike)
        share = min(1.0, bits / wanted)
        for need in alike:
            added = floor(need.tokens * share)
            bits -= added * need.stream.width
            if added:
                depths[need.stream.name] = need.stream.depth + added
        if share < 1.0:
            break
    return depths
