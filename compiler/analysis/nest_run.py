"""One nest of a task in time, from what arrives to what it pushes, without simulating it.

A nest is known by its *stalls*, pairs of an iteration and the cycle before which it can not run: those where each of
its streams gives the first and the last token, and where the stream has a knee. From a stall on it runs at its own
initiation interval, and it can not run ahead of the tokens that it reads. Tokens of a stream arrive at an even pace
from the first to the first knee, from one to the next, and from there to the last; a knee is where the task that writes
them departs most from an even pace. So a converter that fills before it drains, or a cache that waits for its last row,
holds up only what comes after.

FIFOs between tasks are taken as deep enough. Those behind loads are not: while its reader stalls, a load goes on until
its FIFO and the adapter of its ports are full, and what is left then comes at its own rate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from compiler.graph.hashed_once import hashed_once
from compiler.graph.passage import Passage
from compiler.graph.task_graph import TimingSpec

# A knee is worth keeping where an even pace would be off by this share of the time between first and last token.
KNEE_SHARE = 0.02
KNEES = 2  # of a stream: more of them change next to nothing, and take time


class Knee(NamedTuple):
    """Token `number` (from 1) of a stream is pushed in `cycle`."""

    number: int
    cycle: float


class Arrival(NamedTuple):
    """Cycles at which the first and the last token of a stream are pushed, and those between where the pace changes."""

    first: float
    last: float
    knees: tuple[Knee, ...] = ()

    def at(self, count: int, tokens: int) -> float:
        """When token number `count` (from 1) of `tokens` arrives."""
        if count >= tokens:
            return self.last
        low, begin, high, end = 1, self.first, tokens, self.last
        for number, cycle in self.knees:
            if count <= number:
                high, end = number, cycle
                break
            low, begin = number, cycle
        return begin + (end - begin) * (count - low) / (high - low) if count > low else begin

    def bent(self, near: Iterable[Knee], tokens: int) -> "Arrival":
        """With the knee of `near` that is farthest from how the tokens come, and again, where it is worth keeping."""
        bent, least = self, KNEE_SHARE * (self.last - self.first)
        inner = [knee for knee in near if 0 < knee.number < tokens]
        while inner and len(bent.knees) < KNEES:
            bends = [abs(knee.cycle - bent.at(knee.number, tokens)) for knee in inner]
            if (farthest := max(bends)) <= least:
                break
            bent = Arrival(self.first, self.last, tuple(sorted((*bent.knees, inner[bends.index(farthest)]))))
        return bent


class TaskTime(NamedTuple):
    """Cycles at which a task reads its first token and ends, and for how many of them it computes or moves data."""

    start: float
    end: float
    busy: float


class LoadedStream(NamedTuple):
    """Input `number` of a task comes from HBM, by a load that takes `busy` cycles for it where nobody holds it up, and
    the adapter of whose ports holds `ahead` tokens.
    """

    number: int
    busy: float
    ahead: int


class RunOfNest(NamedTuple):
    """How a task ran, when each of its outputs came, and for each loaded stream its end where the task held it up."""

    time: TaskTime
    pushed: tuple[Arrival, ...]
    ends: tuple[float | None, ...]


_Stall = tuple[int, float]  # an iteration, and the cycle before which it can not run


class _Run:
    """One task's run, from what arrives to what it pushes."""

    __slots__ = ("_ready", "depth", "ii", "inputs", "stalls", "start")

    def __init__(self, timing: TimingSpec, reads: tuple[Passage, ...], arrivals: tuple[Arrival, ...]) -> None:
        self.ii, self.depth, self.inputs = timing.ii, timing.depth, list(zip(reads, arrivals, strict=True))
        self.stalls: list[_Stall] = []
        start = 0.0
        for read, arrival in self.inputs:
            for stall in _stalls(read, arrival):
                self.stalls.append(stall)
                if not stall[0] and stall[1] > start:
                    start = stall[1]
        self.start = start
        self.stalls.append((0, start))
        self._ready = {0: start}

    def replace(self, number: int, arrival: Arrival) -> None:
        """Another arrival of a stream that it reads, no earlier than the one before."""
        read, _ = self.inputs[number]
        self.inputs[number] = read, arrival
        self.stalls += _stalls(read, arrival)
        self._ready = {0: self.start}

    def ready(self, iteration: int) -> float:
        """The cycle in which an iteration can enter."""
        found = self._ready.get(iteration)
        if found is not None:
            return found
        ii, ready = self.ii, 0.0
        for at, cycle in self.stalls:
            if at <= iteration and (after := cycle + (iteration - at) * ii) > ready:
                ready = after
        for read, arrival in self.inputs:
            if arrival.last > ready and read.first < iteration < read.last:
                ready = max(ready, arrival.at(read.until(iteration), read.tokens))
        self._ready[iteration] = ready
        return ready

    def pushed(self, write: Passage) -> Arrival:
        """When the tokens of a stream that the task writes come out."""
        low, high, depth = write.first, write.last, self.depth
        first = self.ready(low) + depth
        last = self.ready(high) + depth
        last = max(last, first)
        waits = last - first - (high - low) * self.ii
        beside = self._beside_stalls(write) if waits > KNEE_SHARE * (last - first) else set[int]()
        beside |= _around_last_burst(write)
        inner = [self._knee(write, token) for token in sorted(beside) if 0 < token < write.tokens]
        return Arrival(first, last).bent(inner, write.tokens)

    def _beside_stalls(self, write: Passage) -> set[int]:
        """Numbers, from 0, of the last token that is pushed before a stall and of the first one behind it."""
        first, last = write.first, write.last
        stalls = {at for at, _ in self.stalls if first < at <= last}
        pushed = [write.until(at - 1) for at in stalls]
        return {count - before for count in pushed for before in (0, 1)}

    def _knee(self, write: Passage, token: int) -> Knee:
        """When a token is pushed, by its number from 0."""
        return Knee(token + 1, self.ready(write.iteration_of(token)) + self.depth)


def _around_last_burst(write: Passage) -> set[int]:
    """Numbers, from 0, of the token before the last ones that are pushed without a pause, and of the first of those:
    what comes in bursts is late by up to one when the last token is there. None where tokens come one by one.
    """
    burst = 1
    for trip, _, moving in write.digits:
        burst *= moving
        if moving < trip:
            break
    return {write.tokens - burst, write.tokens - burst - 1} if 1 < burst < write.tokens else set()


def _stalls(read: Passage, arrival: Arrival) -> list[_Stall]:
    """Of what arrives at an input."""
    ends = [(read.first, arrival.first), (read.last, arrival.last)]
    return [*ends, *[(read.iteration_of(n - 1), cycle) for n, cycle in arrival.knees]] if arrival.knees else ends


def _throttled(run: _Run, number: int, busy: float, stock: int) -> Arrival:
    """Arrivals of a load's stream with the stalls of its reader: at each the load is ahead by at most `stock` tokens,
    and the rest comes at its own rate. Where that is more than are left, tokens of the next nest have come, too: then
    the last one of this came that much earlier.
    """
    read, arrival = run.inputs[number]
    first, last, tokens = read.first, read.last, read.tokens
    each, late, knees = busy / tokens, arrival.last, arrival.knees
    for at, cycle in run.stalls:
        if first <= at <= last and cycle + (tokens - stock) * each > late:
            there = stock + (read.until(at - 1) if at > 0 else 0)
            if (end := cycle + (tokens - there) * each) > late:
                late, knees = end, (Knee(there, cycle),) if there < tokens else ()
    return Arrival(arrival.first, late, knees)


@hashed_once
@dataclass(frozen=True)
class Step:
    """What of a task's run no other task and no FIFO changes. `drain`: cycles from the last word that a store moves
    until it is in memory, None for any other task.
    """

    timing: TimingSpec
    reads: tuple[Passage, ...]
    writes: tuple[Passage, ...]
    busy: float
    drain: int | None = None
    loaded: tuple[LoadedStream, ...] = ()


@lru_cache(maxsize=16384)  # in other rounds, with other FIFOs, or one other knob, most steps run alike
def ran(step: Step, arrivals: tuple[Arrival, ...], stocks: tuple[int, ...]) -> RunOfNest:
    """The task's run where its inputs arrive so, and FIFOs and adapters behind loads hold so many tokens."""
    if len(arrivals) == 1 and not (arrivals[0].knees or stocks or any(p.digits for p in (*step.reads, *step.writes))):
        return _passed_on(step, arrivals[0])
    timing = step.timing
    run = _Run(timing, step.reads, arrivals)
    ends = tuple(_held_up(run, step.loaded, stocks)) if stocks else ()
    end = max(run.start + timing.latency, run.ready(timing.iterations - 1) + timing.depth)
    if step.drain is not None:
        end = max(end, run.start + step.busy) + step.drain
    alike = {write: run.pushed(write) for write in dict.fromkeys(step.writes)}  # all streams of a fork
    return RunOfNest(TaskTime(run.start, end, step.busy), tuple([alike[write] for write in step.writes]), ends)


def _passed_on(step: Step, arrival: Arrival) -> RunOfNest:
    """The run of a task that reads one stream, of even pace, and writes, in each of its iterations: nothing bends."""
    timing, steps = step.timing, step.timing.iterations - 1
    start = max(0.0, arrival.first if steps else arrival.last)
    last = max(start + steps * timing.ii, arrival.last)
    end = max(start + timing.latency, last + timing.depth)
    if step.drain is not None:
        end = max(end, start + step.busy) + step.drain
    pushed = Arrival(start + timing.depth, last + timing.depth)
    return RunOfNest(TaskTime(start, end, step.busy), (pushed,) * len(step.writes), ())


def _held_up(run: _Run, loaded: tuple[LoadedStream, ...], stocks: tuple[int, ...]) -> Iterator[float | None]:
    for (number, busy, _), stock in zip(loaded, stocks, strict=True):
        arrival = _throttled(run, number, busy, stock)
        late = arrival.last > run.inputs[number][1].last
        if late:
            run.replace(number, arrival)
        yield arrival.last if late else None
