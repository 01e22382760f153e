"""Which streams an operation reads and writes, whether it has a task of its own or takes turns at an engine."""

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.program import LoopNest, Repeat, Side
from compiler.graph.task_graph import EngineTask, StructuredTask, Task, TaskGraph


@dataclass(frozen=True, slots=True)
class OperationPorts:
    """An operation that `task` runs; the streams that bring its inputs, without scalars, and those that it makes."""

    task: Task
    op: LinalgOp
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def ports_of(task: Task, tasks: TaskGraph) -> Iterator[OperationPorts]:
    """Of each operation that the task runs; of an engine, beyond the routes that bring and take its tokens."""
    match task:
        case StructuredTask():
            reads, writes = (tuple(a.stream for a in side) for side in (task.reads, task.writes))
            yield OperationPorts(task, task.op, reads, writes)
        case EngineTask():
            before = [tasks.task[tasks.stream[a.stream].source] for a in task.reads]
            behind = [tasks.task[tasks.stream[a.stream].target] for a in task.writes]
            for number, (op, _) in enumerate(task.served):
                reads = tuple(_stream_of_turn(route, number, "reads") for route in before)
                writes = tuple(_stream_of_turn(route, number, "writes") for route in behind)
                yield OperationPorts(task, op, reads, writes)
        case _:
            pass


def _stream_of_turn(route: Task, number: int, side: Side) -> str:
    first, *others = route.turns
    nest = first.body[number] if isinstance(first, Repeat) and not others else route.turns[number]  # of each layer
    assert isinstance(nest, LoopNest)
    return (nest.reads if side == "reads" else nest.writes)[0].stream


def inner_streams(tasks: TaskGraph) -> set[str]:
    """Streams between engines and their routes, on which tokens of one operation follow those of another."""
    engines = [task for task in tasks.tasks if isinstance(task, EngineTask)]
    return {access.stream for engine in engines for access in (*engine.reads, *engine.writes)}


def routes(tasks: TaskGraph) -> set[str]:
    """Tasks that bring tokens to engines, and take them."""
    inner = (tasks.stream[name] for name in inner_streams(tasks))
    ends = {end for stream in inner for end in (stream.source, stream.target)}
    return {name for name in ends if not isinstance(tasks.task[name], EngineTask)}
