"""The walks of `compiler.analysis.turns` and `compiler.analysis.schedule`, slowly and in Python: the native core is
compared with them. What leads to a walk, and what follows from it, is the compiler's own.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple
from unittest.mock import patch

import compiler.analysis.schedule as in_order
from compiler.analysis import turns
from compiler.analysis.nest_run import TaskTime
from compiler.analysis.relays import RELAY_DEPTH, relays
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.analysis.turns import _Plan, _Source
from compiler.errors import UnsupportedError
from compiler.graph.hashed_once import hashed_once
from compiler.graph.passage import Passage
from compiler.graph.program import LoopNest, Program, Repeat, nests, walked
from compiler.graph.same import Same
from compiler.graph.task_graph import (
    DmaTask,
    LoadTask,
    StoreTask,
    Task,
    TaskGraph,
    TimingSpec,
)
from compiler.platforms.platform import Platform

EVEN = 0.001  # by how much of their length two rounds that are called equal may differ
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


_GRAIN = 64  # of a cycle: rounds of equal length are then equal numbers, and nests that ran alike are known again


@dataclass
class _Queue:
    """Tokens of a stream that have been written and not yet read: how many, and when they came."""

    pieces: deque[tuple[int, Arrival]] = field(default_factory=deque[tuple[int, Arrival]])
    held: int = 0

    def put(self, count: int, arrival: Arrival) -> None:
        self.pieces.append((count, arrival))
        self.held += count

    def take(self, count: int) -> Arrival:
        """When the next `count` tokens came."""
        self.held -= count
        pieces = self.pieces
        if count and pieces[0][0] == count:
            return pieces.popleft()[1]
        parts: list[tuple[int, Arrival]] = []
        while count:
            there, arrival = pieces.popleft()
            if there > count:
                pieces.appendleft((there - count, _part(arrival, there, count, there)))
                there, arrival = count, _part(arrival, there, 0, count)
            parts.append((there, arrival))
            count -= there
        return parts[0][1] if len(parts) == 1 else _joined(parts)


def _part(arrival: Arrival, held: int, begin: int, end: int) -> Arrival:
    """Of tokens `begin` to `end` (from 0) of `held`."""
    first, last = arrival.at(begin + 1, held), arrival.at(end, held)
    inside = (Knee(knee.number - begin, knee.cycle) for knee in arrival.knees if begin < knee.number - 1 < end - 1)
    return Arrival(first, last, tuple(inside))


def _joined(parts: list[tuple[int, Arrival]]) -> Arrival:
    """Of all parts together, with the knees that are farthest from an even pace."""
    knees: list[Knee] = []
    before = 0
    for held, arrival in parts:
        knees.append(Knee(before + 1, arrival.first))
        knees += [Knee(before + number, cycle) for number, cycle in arrival.knees]
        before += held
        knees.append(Knee(before, arrival.last))
    return Arrival(parts[0][1].first, parts[-1][1].last).bent(knees[1:], before)


class _Nest:
    """A nest of a task: what is the same in all rounds and with all FIFOs."""

    def __init__(self, task: Task, nest: LoopNest, sources: Mapping[str, _Source], moved: float) -> None:
        timing = TimingSpec(nest.trips, task.timing.ii, task.timing.depth, task.timing.style)
        reads, writes = map(timing.passages, (nest.reads, nest.writes))
        self.read, self.written = ([passage.tokens for passage in side] for side in (reads, writes))
        self.reads, self.writes = ([access.stream for access in side] for side in (nest.reads, nest.writes))
        inputs = list(zip(self.reads, self.read, strict=True))
        self.waits = [(stream, count) for stream, count in inputs if stream not in sources]
        loaded = (
            LoadedStream(number, count * sources[s].each, sources[s].ahead)
            for number, (s, count) in enumerate(inputs)
            if s in sources
        )
        self.busy = float(timing.iterations * timing.ii)
        self.step = Step(timing, reads, writes, self.busy, None, tuple(loaded))
        self._paced_for = task if isinstance(task, DmaTask) and task.credits else None
        if self._paced_for is not None:
            self.busy = moved * timing.iterations / task.iterations

    def ran(self, arrivals: tuple[Arrival, ...], stocks: tuple[int, ...]) -> RunOfNest:
        """As `compiler.analysis.nest_run.ran`."""
        run = ran(self.step, arrivals, stocks)
        return run if self._paced_for is None else _paced(run, self._paced_for, self.busy)


class _Clock:
    """A task between its nests. `left` has how many of them are to come when a round ends, `rounds` the ends so far."""

    def __init__(self, task: Task, program: Program, plan: _Plan) -> None:
        moved = plan.moves.get(task.name, 0.0)
        of_task = {id(nest): _Nest(task, nest, plan.sources, moved) for nest in nests(program) if nest.iterations}
        self.task = task
        order, self.left = _order(Same(program))
        self.nests = deque([of_task[nest] for nest in order])
        self.start: float | None = None
        self.free = self.end = self.busy = 0.0
        self.rounds = list[float]()

    @property
    def is_even(self) -> bool:
        """Whether its last two rounds took equally long."""
        if len(self.rounds) < 3:
            return not self.rounds
        before, middle, last = self.rounds[-3:]
        return abs((last - middle) - (middle - before)) <= EVEN * (last - middle)


class _Order(NamedTuple):
    """Nests as a program runs them, by identity, and how many are left at each end of a round of the outermost
    repetitions.
    """

    nests: tuple[int, ...]
    left: Collection[int]


@lru_cache(maxsize=16384)  # with one other knob most programs are the same
def _order(same: Same[Program]) -> _Order:
    program = same.value
    order = tuple([id(nest) for nest in walked(program) if nest.iterations])
    lengths = [
        (sum(1 for nest in walked((part,)) if nest.iterations), part.times if isinstance(part, Repeat) else 1)
        for part in program
    ]
    left, found = len(order), set[int]()
    for length, times in lengths:
        if times > 1:
            found |= {left - length // times * (n + 1) for n in range(times)}
        left -= length
    return _Order(order, found)


class _Walk(turns._Walk):
    """One walk over all nests of all tasks."""

    def __init__(self, platform: Platform, tasks: TaskGraph, plan: _Plan, programs: Mapping[str, Program]) -> None:
        self.tasks, self.platform, self.plan, self.sources = tasks, platform, plan, plan.sources
        self.queues = {stream.name: _Queue() for stream in tasks.streams}
        for stream in tasks.streams:
            if stream.initial:
                self.queues[stream.name].put(stream.initial, Arrival(0.0, 0.0))
        self.clocks = [_Clock(task, programs[task.name], plan) for task in plan.runs]
        self.given = {stream: source.begin for stream, source in plan.sources.items()}  # the last tokens so far
        self.carried = dict[str, float]()  # when the last tokens so far came, by carrier
        self.times = self._times()
        self.is_even = all(clock.is_even for clock in self.clocks)
        self.period = {c.task.name: c.rounds[-1] - c.rounds[-2] for c in self.clocks if len(c.rounds) > 1}

    def _times(self) -> dict[str, TaskTime]:
        """When each task runs. Raises UnsupportedError where a task needs, within one nest, what it makes in it."""
        waiting = [clock for clock in self.clocks if clock.nests]
        while waiting:
            moved = False
            for clock in waiting:
                while clock.nests and self._has_all(clock.nests[0]):
                    self._run(clock, clock.nests.popleft())
                    moved = True
            waiting = [clock for clock in waiting if clock.nests]
            if not moved:
                raise UnsupportedError(self._short(waiting[0]))
        ended = {name: self.plan.carriers[name]._replace(end=end) for name, end in self.carried.items()}
        found = {c.task.name: TaskTime(c.start or 0.0, c.end, c.busy) for c in self.clocks}
        return {**self.plan.carriers, **ended, **found}

    def _has_all(self, nest: _Nest) -> bool:
        queues = self.queues
        for stream, count in nest.waits:  # noqa: SIM110 # asked over and over
            if queues[stream].held < count:
                return False
        return True

    def _short(self, clock: _Clock) -> str:
        short = [stream for stream, count in clock.nests[0].waits if self.queues[stream].held < count]
        return (
            f"{clock.task.name} waits for tokens of {', '.join(short)} that are written only while it runs, or "
            "never: an estimate takes loops whose rounds are nests of their own; simulate the design instead"
        )

    def _arrival(self, stream: str, count: int, base: float) -> Arrival:
        source = self.sources.get(stream)
        if source is None:
            return _grained(self.queues[stream].take(count), base)
        last = self.given[stream]
        return Arrival(_since(base, last + source.each), _since(base, last + count * source.each))

    def _run(self, clock: _Clock, nest: _Nest) -> None:
        base = clock.free
        arrivals = tuple([self._arrival(s, n, base) for s, n in zip(nest.reads, nest.read, strict=True)])
        stream = self.tasks.stream
        stocks = tuple([stream[nest.reads[entry.number]].depth + entry.ahead for entry in nest.step.loaded])
        self._note(clock, nest, nest.ran(arrivals, stocks), arrivals)

    def _note(self, clock: _Clock, nest: _Nest, run: RunOfNest, arrivals: tuple[Arrival, ...]) -> None:
        base = clock.free
        for (number, _, _), end in zip(nest.step.loaded, run.ends, strict=True):
            stream, last = nest.reads[number], base + (arrivals[number].last if end is None else end)
            for other in self.plan.behind[stream]:
                self.given[other] = max(self.given[other], last)
            self.given[stream] = last
            for task in self.sources[stream].tasks:
                self.carried[task] = last
        for stream, count, arrival in zip(nest.writes, nest.written, run.pushed, strict=True):
            self.queues[stream].put(count, _shifted(arrival, base))
        clock.start = base + run.time.start if clock.start is None else clock.start
        clock.end = base + run.time.end
        clock.free = clock.end + clock.task.timing.gap
        if len(clock.nests) in clock.left:
            clock.rounds.append(clock.end)
        clock.busy += nest.busy
        if isinstance(clock.task, StoreTask) and not clock.nests and not clock.task.credits:
            clock.busy = self.plan.moves[clock.task.name]
            clock.end = max(clock.end, clock.start + clock.busy) + self.platform.hbm.write_response_cycles


def _paced(run: RunOfNest, task: DmaTask, busy: float) -> RunOfNest:
    """The run of a load or store with credits at the pace of memory: nothing of it waits in an adapter for the next."""
    late = max(0.0, run.time.start + busy + task.timing.depth - run.time.end)
    first = 0.0 if isinstance(task, LoadTask) else late  # a credit comes behind the last word
    pushed = tuple([Arrival(a.first + first, a.last + late) for a in run.pushed])
    return RunOfNest(TaskTime(run.time.start, run.time.end + late, busy), pushed, run.ends)


def _shifted(arrival: Arrival, by: float) -> Arrival:
    first, last, knees = arrival
    bent = tuple([Knee(number, cycle + by) for number, cycle in knees]) if knees else ()
    return Arrival(first + by, last + by, bent)


def _grained(arrival: Arrival, base: float) -> Arrival:
    """In cycles since `base`."""
    first, last, knees = arrival
    bent = tuple([Knee(number, _since(base, cycle)) for number, cycle in knees]) if knees else ()
    return Arrival(_since(base, first), _since(base, last), bent)


def _since(base: float, cycle: float) -> float:
    return round((cycle - base) * _GRAIN) / _GRAIN


class _Process(NamedTuple):
    """A task that is no load, and the streams at its ports; `carriers` that bring its `Step.loaded`, in their order: a
    load each, and the relays behind it.
    """

    name: str
    step: Step
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    carriers: tuple[tuple[str, ...], ...] = ()


class _Loaded(NamedTuple):
    """A stream from HBM: its load and the relays behind that, cycles of the load where nobody holds it up, and tokens
    that are on their way in front of the stream's FIFO while its reader stalls.
    """

    carriers: tuple[str, ...]
    busy: float
    ahead: int


class _PlanInOrder(NamedTuple):
    """What is the same in all schedules of these tasks: tasks that are neither loads nor relays behind them, in order;
    `times` of those where nobody holds them up, in the order of all tasks, and what they push.
    """

    processes: Sequence[_Process]
    times: Mapping[str, TaskTime]
    arrivals: Mapping[str, Arrival]


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _process(task: Task) -> _Process:
    """A task where no input comes from HBM."""
    timing = task.timing
    step = Step(timing, timing.passages(task.reads), timing.passages(task.writes), float(timing.iterations * timing.ii))
    reads, writes = (tuple([access.stream for access in side]) for side in (task.reads, task.writes))
    return _Process(task.name, step, reads, writes)


def _behind_loads(process: _Process, loaded: Mapping[str, _Loaded]) -> _Process:
    """With what comes from HBM, by the stream that brings it."""
    name, step, reads, writes, _ = process
    found = [(number, loaded[stream]) for number, stream in enumerate(reads) if stream in loaded]
    inputs = tuple([LoadedStream(number, one.busy, one.ahead) for number, one in found])
    return _Process(name, replace(step, loaded=inputs), reads, writes, tuple([one.carriers for _, one in found]))


@lru_cache(maxsize=1)  # two schedules are made of a design, one after the other
def _plan_in_order(same: Same[tuple[Task, ...]], platform: Platform) -> _PlanInOrder:
    tasks = same.value
    moves = transfer_cycles(tasks, platform)
    times, arrivals = dict.fromkeys([task.name for task in tasks], TaskTime(0.0, 0.0, 0.0)), dict[str, Arrival]()
    loaded: dict[str, _Loaded] = {}
    processes: list[_Process] = []
    for task in tasks:
        if isinstance(task, LoadTask):
            first, span, stream = float(task.timing.depth), moves[task.name], task.writes[0].stream
            arrivals[stream], times[task.name] = Arrival(first, first + span), TaskTime(0.0, first + span, span)
            loaded[stream] = _Loaded((task.name,), span, adapter_tokens(task, platform))
            continue
        if relays(task) and (before := loaded.get(task.reads[0].stream)) is not None:
            came, depth, stream = arrivals[task.reads[0].stream], task.timing.depth, task.writes[0].stream
            arrivals[stream] = Arrival(came.first + depth, came.last + depth)
            times[task.name] = TaskTime(came.first, came.last + depth, float(task.iterations))
            loaded[stream] = _Loaded((*before.carriers, task.name), before.busy, before.ahead + RELAY_DEPTH)
            continue
        process = _process(task)
        if isinstance(task, StoreTask):
            step = replace(process.step, busy=moves[task.name], drain=platform.hbm.write_response_cycles)
            process = process._replace(step=step)
        processes.append(process if loaded.keys().isdisjoint(process.reads) else _behind_loads(process, loaded))
    return _PlanInOrder(processes, times, arrivals)


def schedule(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """As `compiler.analysis.schedule.schedule`, with the walks of this file in the core's place."""
    with patch.object(turns, "_Walk", partial(_Walk, platform)), patch.object(in_order, "_in_order", _in_order):
        return in_order.schedule(tasks, platform)


def _in_order(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    plan, stream = _plan_in_order(Same(tasks.tasks), platform), tasks.stream
    times, arrivals = dict(plan.times), dict(plan.arrivals)
    for name, step, reads, writes, carriers in plan.processes:
        loaded = step.loaded if carriers else ()
        stocks = tuple([stream[reads[number]].depth + ahead for number, _, ahead in loaded])
        run = ran(step, tuple([arrivals[read] for read in reads]), stocks)
        times[name] = run.time
        for behind, end in zip(carriers, run.ends, strict=True):
            if end is not None:
                times |= {carrier: times[carrier]._replace(end=end) for carrier in behind}
        arrivals |= zip(writes, run.pushed, strict=True)
    return times
