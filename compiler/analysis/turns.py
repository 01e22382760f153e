"""When tasks run that take turns, repeat what they do, or stand in a loop: their schedule, nest by nest.

A task begins a nest when the one before it has left its pipeline. It is run as soon as all tokens that it reads have
been written by nests before it, so the order in which tasks are looked at changes nothing (Kahn). What repeats soon
repeats evenly: once two rounds took equally long, so do all that are left, as long as the slowest cycle or the slowest
task, whichever holds up the others. Filling counts once, in the first round.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.core import Numbers, Words, core, numbers, pointer, words, zeros
from compiler.analysis.nest_run import TaskTime, nest_words
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
_OF_RUN = 5  # numbers of a task that the core tells
_STUCK, _EVEN = 0, 2  # as core/walk.h has it
_UNPACED, _LOADS, _STORES = range(3)


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


class _Turns(NamedTuple):
    """What a task runs: its nests, which are told apart by identity, since what is repeated is one nest, and itself as
    the core reads it, with the numbers of its `streams` among themselves.
    """

    program: Program
    nests: tuple[LoopNest, ...]
    streams: tuple[str, ...]
    words: Words


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _turns(task: Task) -> _Turns:
    program, own = task.single_runs, task.timing
    found = tuple({id(nest): nest for nest in nests(program) if nest.iterations}.values())
    number = dict[str, int]()
    described = words()
    for nest in found:
        timing = TimingSpec(nest.trips, own.ii, own.depth, own.style)
        described += nest_words(timing, nest.reads, nest.writes)
        for access in (*nest.reads, *nest.writes):
            described.append(number.setdefault(access.stream, len(number)))
    paced = isinstance(task, DmaTask) and bool(task.credits)
    kind = (_LOADS if isinstance(task, LoadTask) else _STORES) if paced else _UNPACED
    stores = isinstance(task, StoreTask) and not paced
    head = (own.gap, own.ii, own.depth, kind, stores, task.iterations, len(found))
    return _Turns(program, found, tuple(number), words(head) + described)


class _Plan:
    """What is the same in all schedules of these tasks."""

    def __init__(self, tasks: Sequence[Task], streams: Sequence[str], platform: Platform) -> None:
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
        self.turns = [turns[task.name] for task in self.runs]
        self.words, self.numbers = words((platform.hbm.write_response_cycles,)), numbers()
        self._describe({name: n for n, name in enumerate(streams)})

    def _describe(self, number: Mapping[str, int]) -> None:
        """As the core reads it; `number` of each stream."""
        carrier = {name: n for n, name in enumerate(self.carriers)}
        self.words.extend((len(number), len(carrier), len(self.sources)))
        for stream, source in self.sources.items():
            behind = [number[other] for other in self.behind[stream]]
            through = [carrier[task] for task in source.tasks]
            self.words.extend((number[stream], source.ahead, len(behind), *behind, len(through), *through))
            self.numbers.extend((source.begin, source.each))
        self.words.append(len(self.runs))
        for task, turns in zip(self.runs, self.turns, strict=True):
            self.words.extend((len(turns.streams), *[number[stream] for stream in turns.streams]))
            self.words += turns.words
            self.numbers.append(self.moves.get(task.name, 0.0))

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
def _plan(same: Same[tuple[Task, ...]], streams: tuple[str, ...], platform: Platform) -> _Plan:
    return _Plan(same.value, streams, platform)


@lru_cache(maxsize=16384)  # with one other knob most programs are the same
def _order(same: Same[Program], whole: Same[Program]) -> Words:
    """Nests as a program runs them: how many, the number of each among those of the `whole` program, and whether a
    round of an outermost repetition ends with it.
    """
    number = dict[int, int]()
    for nest in nests(whole.value):
        if nest.iterations:
            number.setdefault(id(nest), len(number))
    order, ends = list[int](), list[int]()
    for part in same.value:
        inside = [number[id(nest)] for nest in walked((part,)) if nest.iterations]
        times = part.times if isinstance(part, Repeat) else 1
        each = len(inside) // times if times > 1 else 0
        order += inside
        ends += [int(each > 0 and n % each == 0) for n in range(1, len(inside) + 1)]
    return words((len(order), *order, *ends))


class _Walk:
    """One walk over all nests of all tasks. Raises UnsupportedError where a task needs, within one nest, what it makes
    in it. `is_even`: rounds took equally long, of all tasks; `period`: how long, of those that do some.
    """

    def __init__(self, tasks: TaskGraph, plan: _Plan, programs: Mapping[str, Program]) -> None:
        self.tasks, self.plan = tasks, plan
        orders = words()
        for task, turns in zip(plan.runs, plan.turns, strict=True):
            orders += _order(Same(programs[task.name]), Same(turns.program))
        streams = words([number for stream in tasks.streams for number in (stream.depth, stream.initial)])
        of_runs, of_carriers = numbers(zeros(_OF_RUN * len(plan.runs))), numbers(zeros(2 * len(plan.carriers)))
        held = words(zeros(len(tasks.streams)))
        given = map(pointer, (plan.words, plan.numbers, streams, orders, of_runs, of_carriers, held))
        outcome = core().millrace_walk(*given)
        if outcome == _STUCK:
            raise UnsupportedError(self._why(orders, of_runs, held))
        self.is_even = outcome == _EVEN
        starts, ends, busy, rounds, periods = (of_runs[n::_OF_RUN] for n in range(_OF_RUN))
        names = [task.name for task in plan.runs]
        self.times = dict(plan.carriers)
        for name, late, end in zip(plan.carriers, of_carriers[::2], of_carriers[1::2], strict=True):
            if late:
                self.times[name] = self.times[name]._replace(end=end)
        self.times |= zip(names, map(TaskTime, starts, ends, busy), strict=True)
        self.period = {name: period for name, some, period in zip(names, rounds, periods, strict=True) if some}

    def extended(self, left: int) -> dict[str, TaskTime]:
        """The times of this walk with so many rounds more, all as long as the last one."""
        period = self.period
        longest = max(period.values())
        late, found = set(period), dict[str, TaskTime]()
        for task in self.tasks.tasks:
            name, (start, end, busy) = task.name, self.times[task.name]
            if not late.isdisjoint([self.tasks.stream[read.stream].source for read in task.reads]):
                late.add(name)
            if name in self.plan.carriers:
                found[name] = TaskTime(start, max(end + left * longest, busy), busy)
            elif name in late:
                start += 0 if name in period else left * longest
                busy = self.plan.moves.get(name, float(task.iterations * task.timing.ii))
                found[name] = TaskTime(start, end + left * period.get(name, longest), busy)
            else:
                found[name] = self.times[name]
        return found

    def _why(self, orders: Words, of_runs: Numbers, held: Words) -> str:
        """Of the first task that has not ended."""
        begin, left = 0, zip(self.plan.runs, self.plan.turns, map(int, of_runs[3::_OF_RUN]), strict=True)
        while (one := next(left))[-1] == orders[begin]:
            begin += 1 + 2 * orders[begin]
        task, turns, done = one
        nest, there = turns.nests[orders[begin + 1 + done]], dict(zip(self.tasks.stream, held, strict=True))
        timing = replace(task.timing, trips=nest.trips)
        read = {access.stream: timing.tokens(access) for access in nest.reads if access.stream not in self.plan.sources}
        short = [stream for stream, count in read.items() if there[stream] < count]
        return (
            f"{task.name} waits for tokens of {', '.join(short)} that are written only while it runs, or "
            "never: an estimate takes loops whose rounds are nests of their own; simulate the design instead"
        )


def schedule_turns(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    """When each task runs, in cycles since its kernel started. Raises UnsupportedError, see `_Walk`."""
    plan = _plan(Same(tasks.tasks), tuple([stream.name for stream in tasks.streams]), platform)
    passed = [stream for stream in tasks.streams if stream.name not in plan.sources]
    rounds, programs = ROUNDS, plan.programs
    while left := spare_rounds(programs, passed, rounds, MANY, inside=False):
        few_rounds = {name: shortened(p, left, MANY, inside=False) for name, p in programs.items()}
        walk = _Walk(tasks, plan, few_rounds)
        if walk.is_even:
            return walk.extended(left)
        rounds *= 2
    return _Walk(tasks, plan, programs).times


def takes_turns(tasks: Sequence[Task], streams: Sequence[Stream]) -> bool:
    """Whether some task does, or a stream closes a loop or begins with tokens."""
    return any(task.takes_turns for task in tasks) or any(stream.feedback or stream.initial for stream in streams)
