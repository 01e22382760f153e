"""When each task of a design runs, without simulating it: the latency of an estimate.

Tasks are walked in topological order, each of them from what arrives to what it pushes (`compiler.analysis.nest_run`);
those that take turns, repeat what they do or stand in a loop nest by nest (`compiler.analysis.turns`).

A relay behind a load is a part of it: a reader that stalls holds up both, for the FIFO that is deep lies behind the
relay.

`bench/estimate_error.py` compares with the simulator. What few knees can not tell, a task that stalls several times for
long, is what remains of the error.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.core import Numbers, Words, core, numbers, pointer, words
from compiler.analysis.nest_run import TaskTime, nest_words
from compiler.analysis.relays import RELAY_DEPTH, relays
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.analysis.turns import schedule_turns, takes_turns
from compiler.graph.program import Values
from compiler.graph.same import Same
from compiler.graph.task_graph import LoadTask, StoreTask, Task, TaskGraph
from compiler.platforms.platform import Platform

_NO_DRAIN = -1  # as core/nest_run.h has it


class _Process(NamedTuple):
    """A task that is no load, as the core reads it, and the streams at its ports."""

    words: Words
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class _Loaded(NamedTuple):
    """A stream from HBM: its load and the relays behind that, by number, cycles of the load where nobody holds it up,
    and tokens that are on their way in front of the stream's FIFO while its reader stalls.
    """

    carriers: tuple[int, ...]
    busy: float
    ahead: int


class _Plan(NamedTuple):
    """What is the same in all schedules of these tasks: tasks that are neither loads nor relays behind them, in order,
    as the core reads them; start and end of all tasks where nobody holds them up, and for how long they are busy; when
    what is loaded comes.
    """

    words: Words
    numbers: Numbers
    times: Numbers
    busy: Sequence[float]
    loaded: Numbers


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _process(task: Task) -> _Process:
    reads, writes = (tuple([access.stream for access in side]) for side in (task.reads, task.writes))
    return _Process(nest_words(task.timing, task.reads, task.writes), reads, writes)


@lru_cache(maxsize=1)  # two schedules are made of a design, one after the other
def _plan(same: Same[tuple[Task, ...]], streams: tuple[str, ...], platform: Platform) -> _Plan:
    tasks, number = same.value, {name: n for n, name in enumerate(streams)}
    moves = transfer_cycles(tasks, platform)
    times, busy, arrivals = numbers(), list[float](), dict[str, tuple[float, float]]()
    loaded, described, count, of_processes = dict[str, _Loaded](), words(), 0, numbers()
    for place, task in enumerate(tasks):
        if isinstance(task, LoadTask):
            first, span, stream = float(task.timing.depth), moves[task.name], task.writes[0].stream
            arrivals[stream] = first, first + span
            times.extend((0.0, first + span))
            busy.append(span)
            loaded[stream] = _Loaded((place,), span, adapter_tokens(task, platform))
            continue
        if relays(task) and (before := loaded.get(task.reads[0].stream)) is not None:
            (first, last), depth, stream = arrivals[task.reads[0].stream], task.timing.depth, task.writes[0].stream
            arrivals[stream] = first + depth, last + depth
            times.extend((first, last + depth))
            busy.append(float(task.iterations))
            loaded[stream] = _Loaded((*before.carriers, place), before.busy, before.ahead + RELAY_DEPTH)
            continue
        process, stores = _process(task), isinstance(task, StoreTask)
        times.extend((0.0, 0.0))
        busy.append(moves[task.name] if stores else float(task.iterations * task.timing.ii))
        of_processes.append(busy[-1])
        found = [(n, loaded[stream]) for n, stream in enumerate(process.reads) if stream in loaded]
        of_processes.extend(one.busy for _, one in found)
        described.append(place)
        described += process.words
        described.append(platform.hbm.write_response_cycles if stores else _NO_DRAIN)
        described.extend(number[stream] for stream in (*process.reads, *process.writes))
        described.append(len(found))
        for input_, one in found:
            described.extend((input_, one.ahead, len(one.carriers), *one.carriers))
        count += 1
    head = (len(streams), len(arrivals), *(number[stream] for stream in arrivals), count)
    came = numbers(cycle for both in arrivals.values() for cycle in both)
    return _Plan(words(head) + described, of_processes, times, busy, came)


def schedule(
    tasks: TaskGraph, platform: Platform, values: Values | None = None
) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """When each task runs, in cycles since its kernel started, and the length of each kernel; of a launch with these
    arguments, and else the usual. What loads memories does nothing. O(streams x loops), for tasks that take turns once
    for each turn of some rounds.
    """
    idle = {task.name: TaskTime(0.0, 0.0, 0.0) for task in tasks.tasks} if tasks.steady is not tasks else {}
    tasks = tasks.steady.at(values or {})
    times = schedule_turns(tasks, platform) if takes_turns(tasks.tasks, tasks.streams) else _in_order(tasks, platform)
    times = idle | times
    lengths = [0.0] * tasks.kernels
    for task in tasks.tasks:
        lengths[task.kernel] = max(lengths[task.kernel], times[task.name].end)
    return times, tuple(lengths)


def _in_order(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    plan = _plan(Same(tasks.tasks), tuple([stream.name for stream in tasks.streams]), platform)
    depths, times = words([stream.depth for stream in tasks.streams]), plan.times[:]
    core().millrace_walk_in_order(*map(pointer, (plan.words, plan.numbers, depths, times, plan.loaded)))
    found = zip(tasks.tasks, times[::2], times[1::2], plan.busy, strict=True)
    return {task.name: TaskTime(start, end, busy) for task, start, end, busy in found}
