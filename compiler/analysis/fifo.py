"""FIFO depths from an affine schedule: sufficient for progress and for the pace of the slowest task (design 3.5).

`conservative` and `normal` plan an `AffineSchedule` of each kernel, with equal and with own paces; that it keeps its
lags proves progress. Starts follow from the lags by longest paths; then tasks that write more bits than they read, and
those that write to such a task alone, start as late as their readers allow. That is quick enough for a search;
`compiler.sizing.lp` finds the best starts.

A cycle of waits lies within one biconnected component of the undirected graph, so streams that lie on no cycle need no
depth for progress; where their writer may wait they get what a few LUTs hold. `whole` keeps every token of a stream
that enters a task together with another of its component: no such stream is ever full, and every cycle of waits would
have to pass through one. All others are as `conservative` plans them: they are not needed for progress, but without
them the design does not keep the pace by which it is estimated. Where tasks take turns the schedule is of their nests
(`compiler.analysis.turning_schedule`), and `whole` keeps every token of all streams that lie on a cycle.

All of this holds for pipelines that finish what they hold when their input runs dry (`style=flp`, which the emitted C++
asks for).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.analysis.affine_schedule import MIN_DEPTH, AffineSchedule, Edge, affine_schedule, equal_paces, own_paces
from compiler.analysis.cycles import bridges, reconvergent_streams
from compiler.analysis.turning import turning_schedule
from compiler.analysis.turning_schedule import TurningSchedule
from compiler.analysis.turns import takes_turns
from compiler.graph.program import arguments_of, few_iterations
from compiler.graph.task_graph import ComputeTask, LoadTask, Stream, Task
from compiler.options import Equalisation, FifoStrategy

BRIDGE_DEPTH = 16  # tokens of a stream on no cycle: a shift register or LUTRAM holds them
SWEEPS = 2


@dataclass(frozen=True, slots=True)
class KernelPart:
    """Tasks of one kernel in topological order and the streams between them."""

    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]


def by_kernel(tasks: Sequence[Task], streams: Sequence[Stream]) -> list[KernelPart]:
    """The kernels of a design, each by itself: no stream leaves one."""
    members: dict[int, list[Task]] = {}
    inside: dict[int, list[Stream]] = {}
    kernel_of = {t.name: t.kernel for t in tasks}
    for task in tasks:
        members.setdefault(task.kernel, []).append(task)
    for stream in streams:
        inside.setdefault(kernel_of[stream.source], []).append(stream)
    return [KernelPart(tuple(t), tuple(inside.get(kernel, ()))) for kernel, t in members.items()]


Schedule = AffineSchedule | TurningSchedule


def plan_schedule(part: KernelPart, equalisation: Equalisation) -> Schedule:
    """The schedule by which the FIFOs of a kernel are sized. O(tasks + streams x loops).

    Raises UnsupportedError where a task waits, within one nest, for what it makes in it.
    """
    if takes_turns(part.tasks, part.streams):
        return _of_all_values(part, equalisation)
    paces = equal_paces(part.tasks) if equalisation == "conservative" else own_paces(part.tasks, part.streams)
    return affine_schedule(part.tasks, part.streams, paces)


def _of_all_values(part: KernelPart, equalisation: Equalisation) -> TurningSchedule:
    """The schedule at the largest arguments, with what short launches need: where a loop makes no iteration, or one,
    others around it hold tokens that they do not hold beside many.
    """
    floor = dict[str, int]()
    for values in few_iterations(arguments_of(task.program for task in part.tasks)):
        short = turning_schedule([task.at(values) for task in part.tasks], part.streams, equalisation)
        for name, depth in short.depths(short.swept()).items():
            floor[name] = max(floor.get(name, 0), depth)
    schedule = turning_schedule(part.tasks, part.streams, equalisation)
    schedule.floor.update(floor)
    return schedule


def swept_starts(schedule: Schedule) -> dict[str, float]:
    """A start of each node in cycles: the earliest, then sweeps of local moves."""
    if isinstance(schedule, TurningSchedule):
        return schedule.swept()
    entering, leaving = schedule.entering(), schedule.leaving()
    start, gain = schedule.earliest({}), _gains(schedule.nodes, entering, leaving)
    for _ in range(SWEEPS):
        for node in reversed(schedule.nodes):
            if gain[node] > 0 and leaving[node]:
                start[node] = min(start[e.target] - e.lag for e in leaving[node])
        for node in schedule.nodes:
            if gain[node] <= 0 and entering[node]:
                start[node] = max(start[e.source] + e.lag for e in entering[node])
    return start


def _gains(
    nodes: Sequence[str], entering: Mapping[str, list[Edge]], leaving: Mapping[str, list[Edge]]
) -> dict[str, float]:
    """Bits of FIFOs that are saved for each cycle by which a node starts later: what it writes, less what it reads; and
    what those save that write to it alone, which then may start later, too.
    """
    gain: dict[str, float] = {}
    for node in nodes:
        own = sum(edge.cost for edge in leaving[node]) - sum(edge.cost for edge in entering[node])
        writers = dict.fromkeys(edge.source for edge in entering[node] if edge.cost)
        alone = (w for w in writers if all(edge.target == node for edge in leaving[w] if edge.cost))
        gain[node] = own + sum(max(0.0, gain.get(writer, 0.0)) for writer in alone)
    return gain


def undemanding(part: KernelPart, equalisation: Equalisation) -> set[str]:
    """Streams on no cycle whose writer may wait: any by `conservative`, one that does not compute by `normal`; and all
    of loads.
    """
    waits = {t.name for t in part.tasks if equalisation == "conservative" or not isinstance(t, ComputeTask)}
    free = bridges(part.streams) | _loaded(part)
    return {s.name for s in part.streams if s.name in free and s.source in waits}


def _loaded(part: KernelPart) -> set[str]:
    loads = {task.name for task in part.tasks if isinstance(task, LoadTask)}
    return {stream.name for stream in part.streams if stream.source in loads}


def schedule_depths(
    part: KernelPart, schedule: Schedule, start: Mapping[str, float], equalisation: Equalisation
) -> list[int]:
    """Depths, stream by stream, with which a kernel runs by its schedule, nodes started so."""
    free, planned = undemanding(part, equalisation), schedule.depths(start)
    depths = ((s.name, planned.get(s.name, max(MIN_DEPTH, s.tokens))) for s in part.streams)
    return [min(depth, BRIDGE_DEPTH) if name in free else depth for name, depth in depths]


def _held_whole(part: KernelPart) -> set[str]:
    """Streams that are never full by `whole`. Where tasks take turns a circle of waits may close through any stream
    that is on a cycle, since a task waits for one of its streams while others of it are passed later.
    """
    if takes_turns(part.tasks, part.streams):
        return {s.name for s in part.streams} - bridges(part.streams) - _loaded(part)
    return reconvergent_streams(part.streams)


def _kernel_depths(part: KernelPart, strategy: FifoStrategy) -> list[int]:
    equalisation: Equalisation = "conservative" if strategy == "whole" else strategy
    schedule = plan_schedule(part, equalisation)
    depths = schedule_depths(part, schedule, swept_starts(schedule), equalisation)
    if strategy != "whole":
        return depths
    whole = _held_whole(part)
    return [max(d, s.tokens + s.initial) if s.name in whole else d for s, d in zip(part.streams, depths, strict=True)]


def size_fifos(tasks: Sequence[Task], streams: Sequence[Stream], strategy: FifoStrategy) -> tuple[Stream, ...]:
    """`streams` with their depths; `tasks` in topological order, kernels one after the other."""
    depth: dict[str, int] = {}
    for part in by_kernel(tasks, streams):
        depths = _kernel_depths(part, strategy)
        depth |= dict(zip((s.name for s in part.streams), depths, strict=True))
    return tuple([s if s.depth == depth[s.name] else s._replace(depth=depth[s.name]) for s in streams])
