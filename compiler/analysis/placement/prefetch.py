"""How deep the FIFOs behind HBM are, so that weights load while other tasks compute.

A load starts with its kernel and waits when its FIFO is full. What the FIFO does not hold when the reader starts comes
while it reads; if that takes longer than the reading itself, the reader waits. A stream therefore needs

    tokens x (1 - time to read / time to load),   and no more than   tokens x start of the reader / time to load,

which is what can be there by then, less what the adapter of the ports holds. What is read in rounds, as in layers, is
looked at a round at a time, and what can be there is what comes while the load would rest in one, or while the reader
does for anything but what it loads. The budget goes first
where a bit on chip hides most cycles of loading.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import ceil, floor, prod
from typing import NamedTuple

from compiler.analysis.nest_run import TaskTime
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import adapter_tokens
from compiler.analysis.widening import shares, streams_in_pieces
from compiler.graph.program import Access, LoopNest, Repeat, iterations, with_nests
from compiler.graph.program import tokens as tokens_of
from compiler.graph.task_graph import LanesTask, LoadTask, Stream, Task, TaskGraph
from compiler.platforms.platform import Platform

Times = Mapping[str, TaskTime]
_AT_ONCE_GB_S = 1e6


class _Runs:
    """When tasks run, and when they would with loads that give a token in each cycle."""

    def __init__(self, tasks: TaskGraph, platform: Platform) -> None:
        self._tasks, self._platform = tasks, platform
        self.times: Times = schedule(tasks, platform)[0]

    @cached_property
    def without_waiting(self) -> Times:
        hbm = self._platform.hbm
        flat = tuple((size, _AT_ONCE_GB_S) for size, _ in hbm.random_gb_s)
        fast = replace(hbm, channel_gb_s=_AT_ONCE_GB_S, random_gb_s=flat, spread_gb_s=flat)
        pieces = set(streams_in_pieces(self._tasks.tasks))
        at_once = tuple(_at_once(task, pieces) for task in self._tasks.tasks)
        return schedule(replace(self._tasks, tasks=at_once), replace(self._platform, hbm=fast))[0]


def _at_once(task: Task, pieces: Container[str]) -> Task:
    """A load, and what puts its tokens together, as if ports were as wide as these."""
    passes = isinstance(task, LanesTask) and any(read.stream in pieces for read in task.reads)
    if not isinstance(task, LoadTask) and not passes:
        return task

    def of_tokens(nest: LoopNest) -> LoopNest:
        return _of_tokens(nest, in_pieces=any(write.stream in pieces for write in nest.writes))

    if task.turns:
        return replace(task, turns=with_nests(task.turns, of_tokens))
    nest = of_tokens(task.timing.nest(task.reads, task.writes))
    return replace(task, timing=replace(task.timing, trips=nest.trips), writes=nest.writes)


def _of_tokens(nest: LoopNest, *, in_pieces: bool) -> LoopNest:
    """Without a last loop over words of a token, which is written behind the last of them, or over its pieces."""
    if in_pieces:
        return replace(nest, trips=nest.trips[:-1])
    (access,) = nest.writes
    if not nest.is_at_end(access):
        return nest
    return replace(nest, trips=nest.trips[:-1], writes=(access._replace(gates=access.gates[:-1]),))


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
    """Of a reader that does the same in so many rounds, and what is behind them once: the first iteration of one that
    takes a token, how many there are from that to the last, and the tokens.
    """

    rounds: int
    first: int
    span: int
    tokens: int

    @staticmethod
    def of(reader: Task, access: Access, tokens: int) -> "_Round":
        match reader.turns:
            case (Repeat(times, body), *_):
                return _Round(times, 0, iterations(body), tokens_of(body, "reads", access.stream))
            case (_, *_):
                return _Round(1, 0, reader.iterations, tokens)
            case _:
                timing, whole = reader.timing, reader.timing.passage(access)
                count = prod(timing.trips[: timing.restarts])
                others = (count - 1) * (timing.iterations // count)  # of all rounds but one
                return _Round(count, whole.first, whole.last - others - whole.first + 1, tokens // count)


def _need(stream: Stream, load: LoadTask, tasks: TaskGraph, platform: Platform, runs: _Runs) -> _Need | None:
    """Of a stream that a load writes, or that has its tokens, or a part of each. None of what a load brings behind
    others: they have come before it is asked for.
    """
    loaded = stream
    while loaded.source != load.name:
        loaded = tasks.stream[tasks.task[loaded.source].reads[0].stream]
    if load.writes[0].stream != loaded.name:
        return None
    reader = tasks.task[stream.target]
    (access,) = [read for read in reader.reads if read.stream == stream.name]
    read, interval = _Round.of(reader, access, stream.tokens), reader.timing.ii
    bits = sum(s.tokens * s.width for s in (tasks.stream[write.stream] for write in load.writes))
    whole = loaded.width * loaded.tokens / stream.tokens  # bits of a token, of all parts
    tokens, every = read.tokens, bits / whole
    loading, reading = runs.times[load.name].busy / every * tokens, float(read.span * interval)
    if reading >= loading:
        return None
    if read.rounds > 1:
        each, at_once = (
            (time.end - time.start) / read.rounds
            for time in (runs.times[reader.name], runs.without_waiting[reader.name])
        )
        first = max(0.0, each - loading, at_once - reading)
    else:
        first = runs.times[reader.name].start + read.first * interval
    wanted = min(ceil(tokens * (1.0 - reading / loading)), floor(tokens * first / loading), tokens)
    extra = wanted - stream.depth - adapter_tokens(load, platform)
    return _Need(stream, extra, loading / tokens / whole) if extra > 0 else None


def behind_loads(tasks: TaskGraph) -> Iterator[tuple[Stream, LoadTask]]:
    """Streams from loads; where such a one is put together, dealt out at once, or shared, those behind that: each lies
    beside its reader.
    """

    def behind(stream: Stream, load: LoadTask) -> Iterator[tuple[Stream, LoadTask]]:
        target = tasks.task[stream.target]
        if not isinstance(target, LanesTask) and not shares(target):
            yield stream, load
            return
        for part in target.writes:
            yield from behind(tasks.stream[part.stream], load)

    for stream in tasks.streams:
        if isinstance(source := tasks.task[stream.source], LoadTask):
            yield from behind(stream, source)


def prefetch_depths(tasks: TaskGraph, platform: Platform, bits: int) -> dict[str, int]:
    """Depth of each FIFO behind HBM that gains from more than it has, with at most `bits` added to all of them; streams
    that are not named keep theirs. O(streams x loops).

    `tasks` has the depths that progress needs; its estimate says when each reader starts.
    """
    if bits <= 0:
        return {}
    runs = _Runs(tasks, platform)
    found = (_need(stream, load, tasks, platform, runs) for stream, load in behind_loads(tasks))
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
