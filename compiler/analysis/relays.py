"""Relays: where a stream leaves a die, a task of two pipeline stages carries it over the border.

The FIFO of a stream lies with its reader (`compiler.targets.floorplan`). Were the writer on another die, its tokens
would cross from whatever logic makes them, and that the FIFO is full would cross back into everything that stalls the
writer. A relay lies on each die that the stream leaves; so what crosses does so from the relay's register to the FIFO
on the next die, and what comes back holds up that register alone. A stream that crosses k borders has k relays, and a
FIFO on each of the k + 1 dies that it passes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.names import input_stream, relay_name
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.analysis.order import order_streams, order_tasks
from compiler.graph.abreast import is_carrier
from compiler.graph.program import SIDES, Access, LoopNest, Program, passed_on
from compiler.graph.program import streams as streams_of
from compiler.graph.task_graph import RouteTask, StoreTask, Stream, Task, TaskGraph, TimingSpec

RELAY_DEPTH = MIN_DEPTH  # of the FIFO in front of a relay: it is read in every cycle, what has to wait lies behind
RELAYED = "a relay reads it in every cycle"
CARRYING = TimingSpec((), 1, READ_WRITE_CYCLES)


class Spread(NamedTuple):
    """A design with relays, and the die of each of its tasks, relays included, by number."""

    tasks: TaskGraph
    die: Mapping[str, int]


class _Route(NamedTuple):
    """A stream that crosses, and the dies that it leaves, in their order: each has a relay."""

    stream: Stream
    left: Sequence[int]

    @property
    def relays(self) -> list[str]:
        return [relay_name(self.stream.name, number) for number in range(len(self.left))]

    def tasks(self, source: Task) -> Iterator[RouteTask]:
        """The relays, for what `source` writes. The last one writes the stream itself."""
        reads = [input_stream(relay) for relay in self.relays]
        for relay, read, write in zip(self.relays, reads, [*reads[1:], self.stream.name], strict=True):
            yield _relay(relay, source.kernel, passed_on(source.program, self.stream.name, read, write))

    def streams(self) -> Iterator[Stream]:
        """What leads to each relay, and the stream as it leaves the last one, with all that it holds."""
        ends = [self.stream.source, *self.relays]
        for source, relay in zip(ends, self.relays, strict=False):
            yield Stream(input_stream(relay), source, relay, self.stream.itensor, RELAY_DEPTH, reason=RELAYED)
        yield self.stream._replace(source=ends[-1])


def relays(task: Task) -> TypeGuard[RouteTask]:
    """Whether it only carries a stream on."""
    return isinstance(task, RouteTask) and len(task.reads) == len(task.writes) == 1


def writer(tasks: TaskGraph, stream: str) -> Task:
    """The task that makes the tokens of a stream, before all relays and what deals them out to slices."""
    task = tasks.task[tasks.stream[stream].source]
    carries = is_carrier(task.kind, len(task.reads), len(task.writes))
    return writer(tasks, task.reads[0].stream) if carries else task


def relays_of_streams(tasks: TaskGraph) -> Iterator[tuple[Stream, RouteTask, Stream]]:
    """Each stream that would have relays if it left a die, with one of them and the FIFO in front of it."""
    for stream in tasks.streams:
        if _may_have_relays(tasks.task[stream.source]):
            route = _Route(stream, (0,))
            yield stream, next(route.tasks(tasks.task[stream.source])), next(route.streams())


def with_relays(
    tasks: Sequence[Task], streams: Sequence[Stream], die: Mapping[str, int]
) -> tuple[list[Task], list[Stream]]:
    """Tasks and streams with a relay on each die, by number, that a stream leaves; in no order."""
    routes = {route.stream.name: route for route in _routes(tasks, streams, die)}
    led = {name: input_stream(route.relays[0]) for name, route in routes.items()}
    source = {task.name: task for task in tasks}
    made = [task.writing(led) for task in tasks]
    made += [relay for route in routes.values() for relay in route.tasks(source[route.stream.source])]
    kept = [stream for stream in streams if stream.name not in routes]
    return made, kept + [stream for route in routes.values() for stream in route.streams()]


def relay_dies(tasks: Sequence[Task], streams: Sequence[Stream], die: Mapping[str, int]) -> dict[str, int]:
    """The die of each relay that `with_relays` adds, by its name."""
    routes = _routes(tasks, streams, die)
    return {relay: at for route in routes for relay, at in zip(route.relays, route.left, strict=True)}


def relayed(tasks: TaskGraph, die: Mapping[str, int]) -> Spread:
    """The design with relays, or as it is where no stream crosses. O(tasks + streams)."""
    at = relay_dies(tasks.tasks, tasks.streams, die)
    if not at:
        return Spread(tasks, die)
    made, streams = with_relays(tasks.tasks, tasks.streams, die)
    ordered = order_tasks(made, streams)
    return Spread(replace(tasks, tasks=ordered, streams=order_streams(ordered, streams)), {**die, **at})


def _routes(tasks: Sequence[Task], streams: Sequence[Stream], die: Mapping[str, int]) -> Iterator[_Route]:
    """Streams that cross and may have relays."""
    without = {task.name for task in tasks if not _may_have_relays(task)}
    for stream in streams:
        begin, end = die[stream.source], die[stream.target]
        if begin != end and stream.source not in without:
            yield _Route(stream, left_dies(begin, end))


def left_dies(begin: int, end: int) -> range:
    """The dies that a stream leaves on its way from one to another, by number."""
    return range(begin, end, 1 if begin < end else -1)


def _may_have_relays(source: Task) -> bool:
    """Credits have none: what they stand for is followed from the store that writes them to the load
    (`compiler.graph.memory_order`).
    """
    return not isinstance(source, StoreTask)


def _relay(name: str, kernel: int, program: Program) -> RouteTask:
    """One nest is the task's own: schedules of those that take turns cost more."""
    ends = (tuple(map(Access, streams_of(program, side))) for side in SIDES)
    match program:
        case (LoopNest() as nest,):
            timing = replace(CARRYING, trips=nest.trips, restarts=nest.restarts, bounds=nest.bounds)
            return RouteTask(name, kernel, timing, nest.reads, nest.writes)
        case _:
            return RouteTask(name, kernel, CARRYING, *ends, turns=program)
