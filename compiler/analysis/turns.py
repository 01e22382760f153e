"""When tasks run that take turns, repeat what they do, or stand in a loop: their schedule, nest by nest.

A task begins a nest when the one before it has left its pipeline. It is run as soon as all tokens that it reads have
been written by nests before it, so the order in which tasks are looked at changes nothing (Kahn). What repeats soon
repeats evenly: once two rounds took equally long, so do all that are left, as long as the slowest cycle or the slowest
task, whichever holds up the others. Filling counts once, in the first round.
"""

import sys
from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.nest_run import Arrival, Knee, LoadedStream, RunOfNest, Step, TaskTime, ran
from compiler.analysis.relays import RELAY_DEPTH
from compiler.analysis.rounds import FEW, shortened, spare_rounds
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.errors import UnsupportedError
from compiler.graph.abreast import is_carrier
from compiler.graph.program import (
    LoopNest,
    Program,
    Repeat,
    nests,
    tokens,
    walked,
)
from compiler.graph.same import Same
from compiler.graph.task_graph import (
    DmaTask,
    LanesTask,
    LoadTask,
    RouteTask,
    StoreTask,
    Stream,
    Task,
    TaskGraph,
    TimingSpec,
)
from compiler.platforms.platform import Platform

ROUNDS = 4  # that are walked first, and twice as many where they differ
MANY = range(FEW + 1, sys.maxsize)  # of which some are left out
EVEN = 0.001  # by how much of their length two rounds that are called equal may differ
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


class _Source(NamedTuple):
    """A load and what passes its tokens on, relays and what puts them together or deals them out: the `stream` that the
    load writes, when tokens begin to come, cycles from one to the next, and tokens that are on their way in front of
    the FIFO of their reader while that stalls.
    """

    tasks: tuple[str, ...]
    stream: str
    begin: float
    each: float
    ahead: int

    def passed_on(self, task: RouteTask | LanesTask) -> "_Source":
        pieces = task.pieces if isinstance(task, LanesTask) else 1
        ahead = -(-(self.ahead + RELAY_DEPTH) // pieces)
        begin = self.begin + task.timing.depth + (pieces - 1) * self.each
        return _Source((*self.tasks, task.name), self.stream, begin, self.each * pieces, ahead)


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


class _Turns(NamedTuple):
    """What a task runs, and by identity, since what is repeated is one nest, how each nest runs where no input comes
    from HBM.
    """

    program: Program
    nests: Mapping[int, _Nest]


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _turns(task: Task) -> _Turns:
    program = task.single_runs
    return _Turns(program, {id(nest): _Nest(task, nest, {}, 0.0) for nest in nests(program) if nest.iterations})


class _Plan:
    """What is the same in all schedules of these tasks."""

    def __init__(self, tasks: Sequence[Task], platform: Platform) -> None:
        self.moves = transfer_cycles(tasks, platform)
        turns = {task.name: _turns(task) for task in tasks}
        self.programs = {name: of_task.program for name, of_task in turns.items()}
        self.sources: dict[str, _Source] = {}
        self.carriers: dict[str, TaskTime] = {}  # until their reader says how long they take
        self.runs: list[Task] = []
        from_one_load = defaultdict[str, list[str]](list)
        for task in tasks:
            found = self._sources_behind(task, platform)
            if not found:
                self.runs.append(task)
                continue
            self.sources |= found
            source = next(iter(found.values()))
            from_one_load[source.tasks[0]] += found
            busy = self.moves.get(task.name, float(task.iterations))
            self.carriers[task.name] = TaskTime(source.begin - task.timing.depth, source.begin, busy)
        # what comes behind comes later, parts at once
        self.behind = {
            stream: [other for other in from_one_load[source.tasks[0]] if self.sources[other].stream != source.stream]
            for stream, source in self.sources.items()
        }
        self.nests = {task.name: self._nests(task, turns[task.name]) for task in self.runs}

    def _nests(self, task: Task, turns: _Turns) -> Mapping[int, _Nest]:
        if not task.credits and self.sources.keys().isdisjoint([read.stream for read in task.reads]):
            return turns.nests
        moved = self.moves.get(task.name, 0.0)
        return {id(nest): _Nest(task, nest, self.sources, moved) for nest in nests(turns.program) if nest.iterations}

    def _sources_behind(self, task: Task, platform: Platform) -> dict[str, _Source]:
        """Of what a load, or what passes on its tokens, writes, by stream; nothing of what any other task does. Loads
        with credits wait for the stores that they read from: they are run like others.
        """
        written = [access.stream for access in task.writes]
        if isinstance(task, LoadTask) and not task.credits:
            count, begin = sum(tokens(task.program, "writes", stream) for stream in written), float(task.timing.depth)
            each, ahead = self.moves[task.name] / max(1, count), adapter_tokens(task, platform)
            ahead *= task.dma.words_per_token if count == task.iterations else 1  # it writes words as they come
            return {stream: _Source((task.name,), stream, begin, each, ahead) for stream in written}
        if not isinstance(task, RouteTask | LanesTask) or not is_carrier(task.kind, len(task.reads), len(task.writes)):
            return {}
        before = self.sources.get(task.reads[0].stream)
        return {} if before is None else dict.fromkeys(written, before.passed_on(task))


@lru_cache(maxsize=1)  # two schedules are made of a design, one after the other
def _plan(same: Same[tuple[Task, ...]], platform: Platform) -> _Plan:
    return _Plan(same.value, platform)


class _Clock:
    """A task between its nests. `left` has how many of them are to come when a round ends, `rounds` the ends so far."""

    def __init__(self, task: Task, program: Program, plan: _Plan) -> None:
        self.task, of_task = task, plan.nests[task.name]
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


class _Walk:
    """One walk over all nests of all tasks."""

    def __init__(self, tasks: TaskGraph, platform: Platform, plan: _Plan, programs: Mapping[str, Program]) -> None:
        self.tasks, self.platform, self.plan, self.sources = tasks, platform, plan, plan.sources
        self.queues = {stream.name: _Queue() for stream in tasks.streams}
        for stream in tasks.streams:
            if stream.initial:
                self.queues[stream.name].put(stream.initial, Arrival(0.0, 0.0))
        self.clocks = [_Clock(task, programs[task.name], plan) for task in plan.runs]
        self.given = {stream: source.begin for stream, source in plan.sources.items()}  # the last tokens so far
        self.carriers = plan.carriers
        self.carried = dict[str, float]()  # when the last tokens so far came, by carrier

    @property
    def is_even(self) -> bool:
        """Whether rounds took equally long, of all tasks."""
        return all(clock.is_even for clock in self.clocks)

    def times(self) -> dict[str, TaskTime]:
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
                raise UnsupportedError(self._why(waiting[0]))
        ended = {name: self.carriers[name]._replace(end=end) for name, end in self.carried.items()}
        found = {c.task.name: TaskTime(c.start or 0.0, c.end, c.busy) for c in self.clocks}
        return {**self.carriers, **ended, **found}

    def extended(self, few: Mapping[str, TaskTime], left: int) -> dict[str, TaskTime]:
        """The times of this walk with so many rounds more, all as long as the last one."""
        period = {c.task.name: c.rounds[-1] - c.rounds[-2] for c in self.clocks if c.rounds}
        longest = max(period.values())
        late, found = set(period), dict[str, TaskTime]()
        for task in self.tasks.tasks:
            name, (start, end, busy) = task.name, few[task.name]
            if not late.isdisjoint([self.tasks.stream[read.stream].source for read in task.reads]):
                late.add(name)
            if name in self.carriers:
                found[name] = TaskTime(start, max(end + left * longest, busy), busy)
            elif name in late:
                start += 0 if name in period else left * longest
                busy = self.plan.moves.get(name, float(task.iterations * task.timing.ii))
                found[name] = TaskTime(start, end + left * period.get(name, longest), busy)
            else:
                found[name] = few[name]
        return found

    def _has_all(self, nest: _Nest) -> bool:
        queues = self.queues
        for stream, count in nest.waits:  # noqa: SIM110 # asked over and over
            if queues[stream].held < count:
                return False
        return True

    def _why(self, clock: _Clock) -> str:
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


def schedule_turns(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    """When each task runs, in cycles since its kernel started. Raises UnsupportedError, see `_Walk.times`."""
    plan = _plan(Same(tasks.tasks), platform)
    passed = [stream for stream in tasks.streams if stream.name not in plan.sources]
    rounds, programs = ROUNDS, plan.programs
    while left := spare_rounds(programs, passed, rounds, MANY, inside=False):
        few_rounds = {name: shortened(p, left, MANY, inside=False) for name, p in programs.items()}
        walk = _Walk(tasks, platform, plan, few_rounds)
        few = walk.times()
        if walk.is_even:
            return walk.extended(few, left)
        rounds *= 2
    return _Walk(tasks, platform, plan, programs).times()


def takes_turns(tasks: Sequence[Task], streams: Sequence[Stream]) -> bool:
    """Whether some task does, or a stream closes a loop or begins with tokens."""
    return any(task.takes_turns for task in tasks) or any(stream.feedback or stream.initial for stream in streams)
