"""When each task of a design runs, without simulating it: the latency of an estimate.

Tasks are walked in topological order, each of them from what arrives to what it pushes (`compiler.analysis.nest_run`);
those that take turns, repeat what they do or stand in a loop nest by nest (`compiler.analysis.turns`).

`bench/estimate_error.py` compares with the simulator. What few knees can not tell, a task that stalls several times for
long, is what remains of the error.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.nest_run import Arrival, LoadedStream, Step, TaskTime, ran
from compiler.analysis.transfers import adapter_tokens, transfer_cycles
from compiler.analysis.turns import schedule_turns, takes_turns
from compiler.graph.same import Same
from compiler.graph.task_graph import LoadTask, StoreTask, Task, TaskGraph
from compiler.platforms.platform import Platform


class _Plan(NamedTuple):
    """What is the same in all schedules of these tasks: `steps` of those that are no loads, `times` of loads that
    nobody holds up, in the order of all tasks, and what they push.
    """

    steps: Mapping[str, Step]
    times: Mapping[str, TaskTime]
    arrivals: Mapping[str, Arrival]


@lru_cache(maxsize=1)  # two schedules are made of a design, one after the other
def _plan(same: Same[tuple[Task, ...]], platform: Platform) -> _Plan:
    tasks = same.value
    moves = transfer_cycles(tasks, platform)
    times, arrivals = {task.name: TaskTime(0.0, 0.0, 0.0) for task in tasks}, dict[str, Arrival]()
    loaded: dict[str, tuple[str, float, int]] = {}
    steps: dict[str, Step] = {}
    for task in tasks:
        if isinstance(task, LoadTask):
            first, span, stream = float(task.timing.depth), moves[task.name], task.writes[0].stream
            arrivals[stream], times[task.name] = Arrival(first, first + span), TaskTime(0.0, first + span, span)
            loaded[stream] = (task.name, span, adapter_tokens(task, platform))
            continue
        inputs = tuple([LoadedStream(n, *loaded[r.stream]) for n, r in enumerate(task.reads) if r.stream in loaded])
        busy = moves.get(task.name, float(task.timing.iterations * task.timing.ii))
        drain = platform.hbm.write_response_cycles if isinstance(task, StoreTask) else None
        steps[task.name] = Step(task.timing, task.reads, task.writes, busy, drain, inputs)
    return _Plan(steps, times, arrivals)


def schedule(tasks: TaskGraph, platform: Platform) -> tuple[dict[str, TaskTime], tuple[float, ...]]:
    """When each task runs, in cycles since its kernel started, and the length of each kernel; of a launch with the
    largest arguments. O(streams x loops), for tasks that take turns once for each turn of some rounds.
    """
    times = schedule_turns(tasks, platform) if takes_turns(tasks.tasks, tasks.streams) else _in_order(tasks, platform)
    lengths = [0.0] * tasks.kernels
    for task in tasks.tasks:
        lengths[task.kernel] = max(lengths[task.kernel], times[task.name].end)
    return times, tuple(lengths)


def _in_order(tasks: TaskGraph, platform: Platform) -> dict[str, TaskTime]:
    plan, stream = _plan(Same(tasks.tasks), platform), tasks.stream
    times, arrivals = dict(plan.times), dict(plan.arrivals)
    for name, step in plan.steps.items():
        stocks = tuple([stream[step.reads[number].stream].depth + ahead for number, _, _, ahead in step.loaded])
        run = ran(step, tuple([arrivals[read.stream] for read in step.reads]), stocks)
        times[name] = run.time
        for load, end in run.ends:
            times[load] = times[load]._replace(end=end)
        for write, arrival in zip(step.writes, run.pushed, strict=True):
            arrivals[write.stream] = arrival
    return times
