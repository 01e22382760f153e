"""Which streams an operation reads and writes, whether it has a task of its own or takes turns at an engine."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from compiler.analysis.relays import relays
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.program import SIDES, Side, nests
from compiler.graph.task_graph import EngineTask, Joint, LoadTask, RouteTask, Stream, StructuredTask, Task, TaskGraph


class Passed(NamedTuple):
    """Where a tensor passes: all that a stream carries, or one part of what is `joint` on it."""

    stream: str
    joint: Joint | None = None
    part: int = 0


@dataclass(frozen=True, slots=True)
class OperationPorts:
    """An operation that `task` runs; what brings its inputs, without scalars, and the streams that it makes."""

    task: Task
    op: LinalgOp
    reads: tuple[Passed, ...]
    writes: tuple[str, ...]


def ports_of(task: Task, tasks: TaskGraph) -> Iterator[OperationPorts]:
    """Of each operation that the task runs; of an engine, beyond the routes that bring and take its tokens. All slices
    of one are told as the first of them.
    """
    match task:
        case StructuredTask():
            reads = tuple(Passed(access.stream) for access in task.reads)
            yield OperationPorts(task, task.op, reads, tuple(access.stream for access in task.writes))
        case EngineTask(number=0):
            before = [_end(tasks, access.stream, "reads") for access in task.reads]
            behind = [_end(tasks, access.stream, "writes") for access in task.writes]
            for number, (op, _) in enumerate(task.served):
                reads = tuple(_passed_in_turn(front, number) for front in before)
                writes = tuple(_stream_of_turn(route, number, "writes") for route in behind)
                yield OperationPorts(task, op, reads, writes)
        case _:
            pass


def _passed_in_turn(front: Task, number: int) -> Passed:
    """What brings an input: a route, from a stream for each turn, or the load of all of them."""
    if isinstance(front, LoadTask):
        return Passed(front.writes[0].stream, front.dma.joint, number)
    return Passed(_stream_of_turn(front, number, "reads"))


def _stream_of_turn(route: Task, number: int, side: Side) -> str:
    nest = list(nests(route.turns))[number]
    return (nest.reads if side == "reads" else nest.writes)[0].stream


def _end(tasks: TaskGraph, stream: str, side: Side) -> Task:
    """The route or joint load before the stream that an engine, or a slice of one, reads, or the route behind the one
    that it writes.
    """
    *_, last = _to_end(tasks, stream, side)
    return tasks.task[last.source if side == "reads" else last.target]


def _to_end(tasks: TaskGraph, name: str, side: Side) -> Iterator[Stream]:
    """Streams from an engine up to its route or load, or down to its route."""
    stream = tasks.stream[name]
    yield stream
    task = tasks.task[stream.source if side == "reads" else stream.target]
    if not isinstance(task, RouteTask | LoadTask) or relays(task):
        (access,) = task.reads if side == "reads" else task.writes
        yield from _to_end(tasks, access.stream, side)


def inner_streams(tasks: TaskGraph) -> set[str]:
    """Streams between engines and their routes, on which tokens of one operation follow those of another, but for what
    a load writes: that is read as it is given.
    """
    return {stream.name for stream in _inner(tasks) if not isinstance(tasks.task[stream.source], LoadTask)}


def _inner(tasks: TaskGraph) -> Iterator[Stream]:
    for engine in (task for task in tasks.tasks if isinstance(task, EngineTask)):
        for side in SIDES:
            for access in engine.reads if side == "reads" else engine.writes:
                yield from _to_end(tasks, access.stream, side)


def routes(tasks: TaskGraph) -> set[str]:
    """Tasks that bring tokens to engines, deal them out, and take them; and slices of an engine but the first, as which
    all of them are told.
    """
    ends = {tasks.task[end] for stream in _inner(tasks) for end in (stream.source, stream.target)}
    return {t.name for t in ends if not isinstance(t, LoadTask) and (not isinstance(t, EngineTask) or t.number)}
