"""When each task of a design runs, without simulating it: the latency of an estimate.

Tasks are walked in topological order, each of them from what arrives to what it pushes (`compiler.analysis.nest_run`);
those that take turns, repeat what they do or stand in a loop nest by nest (`compiler.analysis.turns`).

`bench/estimate_error.py` compares with the simulator. What few knees can not tell, a task that stalls several times for
long, is what remains of the error.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.nest_run import Arrival, LoadedStream, Rerun, Step, TaskTime
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.analysis.turns import schedule_turns, takes_turns
from compiler.graph.same import Same
from compiler.graph.task_graph import LoadTask, StoreTask, Task, TaskGraph
from compiler.platforms.platform import Platform


class _Process(NamedTuple):
    """A task that is no load, and the streams at its ports; `loads` that bring its `Step.loaded`, in their order."""

    name: str
    run: Rerun
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    loads: tuple[str, ...] = ()


class _Plan(NamedTuple):
    """What is the same in all schedules of these tasks: tasks that are no loads, in order; `times` of loads that nobody
    holds up, in the order of all tasks, and what they push.
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
    return _Process(task.name, Rerun(step), reads, writes)


def _behind_loads(process: _Process, loaded: Mapping[str, tuple[str, float, int]]) -> _Process:
    """With what comes from HBM, by the stream that brings it."""
    name, run, reads, writes, _ = process
    found = [(number, *loaded[stream]) for number, stream in enumerate(reads) if stream in loaded]
    inputs = tuple([LoadedStream(number, busy, ahead) for number, _, busy, ahead in found])
    again = Rerun(run.step._replace(loaded=inputs))
    return _Process(name, again, reads, writes, tuple([load for _, load, _, _ in found]))


@lru_cache(maxsize=1)  # two schedules are made of a design, one after the other
def _plan(same: Same[tuple[Task, ...]], platform: Platform) -> _Plan:
    tasks = same.value
    moves = transfer_cycles(tasks, platform)
    times, arrivals = dict.fromkeys([task.name for task in tasks], TaskTime(0.0, 0.0, 0.0)), dict[str, Arrival]()
    loaded: dict[str, tuple[str, float, int]] = {}
    processes: list[_Process] = []
    for task in tasks:
        if isinstance(task, LoadTask):
            first, span, stream = float(task.timing.depth), moves[task.name], task.writes[0].stream
            arrivals[stream], times[task.name] = Arrival(first, first + span), TaskTime(0.0, first + span, span)
            loaded[stream] = (task.name, span, adapter_tokens(task, platform))
            continue
        process = _process(task)
        if isinstance(task, StoreTask):
            step = process.run.step._replace(busy=moves[task.name], drain=platform.hbm.write_response_cycles)
            process = process._replace(run=Rerun(step))
        processes.append(process if loaded.keys().isdisjoint(process.reads) else _behind_loads(process, loaded))
    return _Plan(processes, times, arrivals)


def schedule(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """When each task runs, in cycles since its kernel started, and the length of each kernel; of a launch with the
    largest arguments. O(streams x loops), for tasks that take turns once for each turn of some rounds.
    """
    tasks = tasks.at({})  # of the largest arguments
    times = schedule_turns(tasks, platform) if takes_turns(tasks.tasks, tasks.streams) else _in_order(tasks, platform)
    lengths = [0.0] * tasks.kernels
    for task in tasks.tasks:
        lengths[task.kernel] = max(lengths[task.kernel], times[task.name].end)
    return times, tuple(lengths)


def _in_order(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    plan, stream = _plan(Same(tasks.tasks), platform), tasks.stream
    times, arrivals = dict(plan.times), dict(plan.arrivals)
    for name, again, reads, writes, loads in plan.processes:
        loaded = again.step.loaded if loads else ()
        stocks = tuple([stream[reads[number]].depth + ahead for number, _, ahead in loaded])
        run = again.ran(tuple([arrivals[read] for read in reads]), stocks)
        times[name] = run.time
        for load, (_, busy, _), end in zip(loads, loaded, run.ends, strict=True):
            if end is not None:
                times[load] = TaskTime(0.0, end, busy)
        arrivals |= zip(writes, run.pushed, strict=True)
    return times
