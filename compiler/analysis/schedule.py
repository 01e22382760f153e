"""When each task of a design runs, without simulating it: the latency of an estimate.

Tasks are walked in topological order. A task is known by its *stalls*, pairs of an iteration and the cycle before which
it can not run: those where each of its streams gives the first and the last token, and where the stream has its knee.
From a stall on it runs at its own initiation interval, and it can not run ahead of the tokens that it reads. Tokens of
a stream arrive at an even pace from the first to the knee and from there to the last; the knee is where the task that
writes them departs most from an even pace. So a converter that fills before it drains, or a cache that waits for its
last row, holds up only what comes after.

FIFOs between tasks are taken as deep enough. Those behind loads are not: while its reader stalls, a load goes on until
its FIFO and the adapter of its ports are full, and what is left then comes at its own rate.

`bench/estimate_error.py` compares with the simulator. What one knee can not tell, a task that stalls several times for
long, is what remains of the error.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.graph.same import Same
from compiler.graph.task_graph import Access, Gate, LoadTask, StoreTask, Task, TaskGraph, TimingSpec
from compiler.platforms.platform import Platform

# A knee is worth keeping where an even pace would be off by this share of the time between first and last token.
KNEE_SHARE = 0.02


class Knee(NamedTuple):
    """Token `number` (from 1) of a stream is pushed in `cycle`."""

    number: int
    cycle: float


class Arrival(NamedTuple):
    """Cycles at which the first and the last token of a stream are pushed, and one between where the pace changes."""

    first: float
    last: float
    knee: Knee | None = None

    def at(self, count: int, tokens: int) -> float:
        """When token number `count` (from 1) of `tokens` arrives."""
        if count >= tokens:
            return self.last
        low, begin, high, end = 1, self.first, tokens, self.last
        if self.knee is not None and count <= self.knee.number:
            high, end = self.knee
        elif self.knee is not None:
            low, begin = self.knee
        return begin + (end - begin) * (count - low) / (high - low) if count > low else begin


class TaskTime(NamedTuple):
    """Cycles at which a task reads its first token and ends, and for how many of them it computes or moves data."""

    start: float
    end: float
    busy: float


class _Read(NamedTuple):
    """A stream that a task reads, from its iteration `first` to `last`; `load` is the task that writes it, if that is
    one, and `ahead` the tokens that the adapter of its ports holds.
    """

    access: Access
    first: int
    last: int
    tokens: int
    load: str | None
    ahead: int


class _Write(NamedTuple):
    """Streams that a task writes alike, from its iteration `first` to `last`."""

    access: Access
    first: int
    last: int
    tokens: int
    streams: tuple[str, ...]


class _Step(NamedTuple):
    """A task and what of it no FIFO changes."""

    task: Task
    reads: tuple[_Read, ...]
    writes: tuple[_Write, ...]


_Stall = tuple[int, float]  # an iteration, and the cycle before which it can not run


def iteration_of(timing: TimingSpec, access: Access, count: int) -> int:
    """The iteration in which token number `count` (from 1) moves."""
    gates = {g.loop: (g.low, g.high) for g in access.gates}
    rest, iteration, stride = count - 1, 0, 1
    for k in range(len(timing.trips) - 1, -1, -1):
        low, high = gates.get(k, (0, timing.trips[k]))
        rest, index = divmod(rest, high - low)
        iteration += (low + index) * stride
        stride *= timing.trips[k]
    return iteration


class _Run:
    """One task's run, from what arrives to what it pushes."""

    def __init__(self, timing: TimingSpec, reads: tuple[_Read, ...], arrivals: list[Arrival]) -> None:
        self.timing, self.reads, self.arrivals = timing, reads, arrivals
        self.stalls: list[_Stall] = []
        for read, arrival in zip(reads, arrivals, strict=True):
            self._add(read, arrival)
        self.start = max((cycle for iteration, cycle in self.stalls if iteration == 0), default=0.0)
        self.stalls.append((0, self.start))

    def _add(self, read: _Read, arrival: Arrival) -> None:
        self.stalls += ((read.first, arrival.first), (read.last, arrival.last))
        if arrival.knee is not None:
            number, cycle = arrival.knee
            self.stalls.append((iteration_of(self.timing, read.access, number), cycle))

    def replace(self, number: int, arrival: Arrival) -> None:
        """Another arrival of a stream that it reads, no earlier than the one before."""
        self.arrivals[number] = arrival
        self._add(self.reads[number], arrival)

    def ready(self, iteration: int) -> float:
        """The cycle in which an iteration can enter."""
        ii, ready = self.timing.ii, 0.0
        for at, cycle in self.stalls:
            if at <= iteration and (after := cycle + (iteration - at) * ii) > ready:
                ready = after
        for read, arrival in zip(self.reads, self.arrivals, strict=True):
            if arrival.last > ready and read.first < iteration < read.last:
                arrived = arrival.at(self.timing.tokens_until(read.access, iteration), read.tokens)
                ready = max(ready, arrived)
        return ready

    def pushed(self, write: _Write) -> Arrival:
        """When the tokens of a stream that the task writes come out."""
        low, high, depth = write.first, write.last, self.timing.depth
        first = self.ready(low) + depth
        last = max(first, self.ready(high) + depth)
        waits = last - first - (high - low) * self.timing.ii
        least = KNEE_SHARE * (last - first)
        if waits <= least:
            return Arrival(first, last)
        near = {at - before for at, _ in self.stalls for before in (0, 1)}
        return self._bent(write, Arrival(first, last), least, [at for at in near if low < at < high])

    def _bent(self, write: _Write, even: Arrival, least: float, near: list[int]) -> Arrival:
        """`even` with a knee at that iteration of `near` whose tokens are farthest from it, by more than `least`."""
        bent, tokens = even, write.tokens
        for at in near:
            cycle = min(max(self.ready(at) + self.timing.depth, even.first), even.last)
            count = self.timing.tokens_until(write.access, at)
            if (bend := abs(cycle - even.at(count, tokens))) > least and 0 < count < tokens:
                bent, least = even._replace(knee=Knee(count, cycle)), bend
        return bent


def _throttled(run: _Run, read: _Read, arrival: Arrival, stock: int, span: float) -> Arrival:
    """Arrivals of a load's stream, of `span` cycles, with the stalls of its reader: at each the load is ahead by at
    most `stock` tokens, and the rest comes at its own rate.
    """
    each, late, knee = span / read.tokens, arrival.last, arrival.knee
    for at, cycle in run.stalls:
        if read.first <= at <= read.last and cycle + (read.tokens - stock) * each > late:
            there = stock + (run.timing.tokens_until(read.access, at - 1) if at > 0 else 0)
            if (last := cycle + max(0, read.tokens - there) * each) > late:
                late, knee = last, Knee(there, cycle) if there < read.tokens else None
    return Arrival(arrival.first, late, knee)


@lru_cache(maxsize=8)
def _steps(same: Same[tuple[Task, ...]], platform: Platform) -> tuple[_Step, ...]:
    """What is the same in all schedules of these tasks, whatever their FIFOs are: two of them are made of a design."""
    loads = {t.writes[0].stream: t for t in same.value if isinstance(t, LoadTask)}
    return tuple(
        _Step(task, tuple(_read(task, access, loads, platform) for access in task.reads), _writes(task))
        for task in same.value
    )


def _read(task: Task, access: Access, loads: Mapping[str, LoadTask], platform: Platform) -> _Read:
    timing, load = task.timing, loads.get(access.stream)
    name, ahead = (load.name, adapter_tokens(load, platform)) if load is not None else (None, 0)
    return _Read(access, timing.first(access), timing.last(access), timing.tokens(access), name, ahead)


def _writes(task: Task) -> tuple[_Write, ...]:
    alike: dict[tuple[Gate, ...], list[Access]] = {}  # all streams of a fork
    for write in task.writes:
        alike.setdefault(write.gates, []).append(write)
    timing = task.timing
    return tuple(
        _Write(first, timing.first(first), timing.last(first), timing.tokens(first), tuple(a.stream for a in accesses))
        for accesses in alike.values()
        for first in accesses[:1]
    )


class _Schedule:
    """What is known of a design's run, task by task."""

    def __init__(self, tasks: TaskGraph, platform: Platform) -> None:
        self.tasks, self.platform = tasks, platform
        self.moves = transfer_cycles(tasks, platform)
        self.arrivals: dict[str, Arrival] = {}
        self.times: dict[str, TaskTime] = {}

    def add_load(self, task: LoadTask) -> None:
        first, span = float(task.timing.depth), self.moves[task.name]
        self.arrivals[task.writes[0].stream] = Arrival(first, first + span)
        self.times[task.name] = TaskTime(0.0, first + span, span)

    def add(self, step: _Step) -> None:
        task, timing = step.task, step.task.timing
        run = _Run(timing, step.reads, [self.arrivals[read.access.stream] for read in step.reads])
        self._throttle_loads(run)
        iterations = timing.iterations
        busy = self.moves.get(task.name, float(iterations * timing.ii))
        end = max(run.start + timing.latency, run.ready(iterations - 1) + timing.depth)
        if isinstance(task, StoreTask):  # until the last word is in memory
            end = max(end, run.start + busy) + self.platform.hbm.read_latency_cycles
        for write in step.writes:
            self.arrivals |= dict.fromkeys(write.streams, run.pushed(write))
        self.times[task.name] = TaskTime(run.start, end, busy)

    def _throttle_loads(self, run: _Run) -> None:
        for number, read in enumerate(run.reads):
            if read.load is None:
                continue
            time, before = self.times[read.load], run.arrivals[number]
            depth = self.tasks.stream[read.access.stream].depth
            arrival = _throttled(run, read, before, depth + read.ahead, time.busy)
            if arrival.last > before.last:
                run.replace(number, arrival)
                self.times[read.load] = time._replace(end=arrival.last)


def schedule(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """When each task runs, in cycles since its kernel started, and the length of each kernel. O(streams x loops)."""
    found = _Schedule(tasks, platform)
    lengths = [0.0] * tasks.kernels
    for step in _steps(Same(tasks.tasks), platform):
        found.add_load(step.task) if isinstance(step.task, LoadTask) else found.add(step)
    for task in tasks.tasks:
        lengths[task.kernel] = max(lengths[task.kernel], found.times[task.name].end)
    return found.times, tuple(lengths)
