"""When each task of a design runs, without simulating it: the latency of an estimate.

Tasks are walked in topological order, each of them from what arrives to what it pushes (`compiler.analysis.nest_run`);
those that take turns, repeat what they do or stand in a loop nest by nest (`compiler.analysis.turns`).

A relay behind a load is a part of it: a reader that stalls holds up both, for the FIFO that is deep lies behind the
relay.

`bench/estimate_error.py` compares with the simulator. What few knees can not tell, a task that stalls several times for
long, is what remains of the error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.nest_run import Arrival, LoadedStream, Step, TaskTime, ran
from compiler.analysis.relays import RELAY_DEPTH, relays
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.analysis.turns import schedule_turns, takes_turns
from compiler.graph.program import Values
from compiler.graph.same import Same
from compiler.graph.task_graph import LoadTask, StoreTask, Task, TaskGraph
from compiler.platforms.platform import Platform


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


class _Plan(NamedTuple):
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
def _plan(same: Same[tuple[Task, ...]], platform: Platform) -> _Plan:
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
    return _Plan(processes, times, arrivals)


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
    plan, stream = _plan(Same(tasks.tasks), platform), tasks.stream
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
