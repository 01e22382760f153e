"""How deep the FIFOs behind HBM are, so that weights load while other tasks compute.

A load starts with its kernel and waits when its FIFO is full. What the FIFO does not hold when the reader starts comes
while it reads; if that takes longer than the reading itself, the reader waits. A stream therefore needs

    tokens x (1 - time to read / time to load),   and no more than   tokens x start of the reader / time to load,

which is what can be there by then, less what the adapter of the ports holds. What is read in rounds, as in layers, is
looked at a round at a time, and what can be there is what comes while the load would rest in one. The budget goes first
where a bit on chip hides most cycles of loading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, prod
from typing import NamedTuple

from compiler.analysis.nest_run import TaskTime
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import adapter_tokens
from compiler.graph.program import Access, Repeat, iterations
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


class _Round(NamedTuple):
    """Of a reader that does the same in so many rounds: the first iteration of one that takes a token, and how many
    there are from that to the last.
    """

    rounds: int
    first: int
    span: int

    @staticmethod
    def of(reader: Task, access: Access) -> "_Round":
        match reader.turns:
            case (Repeat(times, body),):
                return _Round(times, 0, iterations(body))
            case (_, *_):
                return _Round(1, 0, reader.iterations)
            case _:
                timing, whole = reader.timing, reader.timing.passage(access)
                count = prod(timing.trips[: timing.restarts])
                others = (count - 1) * (timing.iterations // count)  # of all rounds but one
                return _Round(count, whole.first, whole.last - others - whole.first + 1)


def _need(stream: Stream, load: LoadTask, tasks: TaskGraph, platform: Platform, times: Times) -> _Need | None:
    """None of what a load brings behind others: they have come before it is asked for."""
    if load.writes[0].stream != stream.name:
        return None
    reader = tasks.task[stream.target]
    (access,) = [read for read in reader.reads if read.stream == stream.name]
    read, time, interval = _Round.of(reader, access), times[reader.name], reader.timing.ii
    tokens, every = stream.tokens // read.rounds, sum(tasks.stream[write.stream].tokens for write in load.writes)
    loading, reading = times[load.name].busy / every * tokens, float(read.span * interval)
    first = time.start + read.first * interval
    if read.rounds > 1:
        first = max(0.0, (time.end - time.start) / read.rounds - loading)
    wanted = min(ceil(tokens * (1.0 - reading / loading)), floor(tokens * first / loading), tokens)
    extra = wanted - stream.depth - adapter_tokens(load, platform)
    return _Need(stream, extra, loading / tokens / stream.width) if extra > 0 else None


def prefetch_depths(tasks: TaskGraph, platform: Platform, bits: int) -> dict[str, int]:
    """Depth of each FIFO behind HBM that gains from more than it has, with at most `bits` added to all of them; streams
    that are not named keep theirs. O(streams x loops).

    `tasks` has the depths that progress needs; its estimate says when each reader starts.
    """
    if bits <= 0:
        return {}
    times, _ = schedule(tasks, platform)
    sources = ((stream, tasks.task[stream.source]) for stream in tasks.streams)
    found = (_need(s, load, tasks, platform, times) for s, load in sources if isinstance(load, LoadTask))
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
