"""What tasks that take turns do one after the other, and which tokens pass between what.

An `Activity` is a nest of a task as it is written, with all its repetitions but the first, which fills what the others
find full; a converter that fills before it drains has one for each. An `Event` is one of its repetitions. Of each
stream, a `Part` are tokens that one event writes and another one reads: the tokens of a stream are counted on both
sides, so it is known which.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.affine_schedule import Window, clock, cycles_of, is_two_phase, window
from compiler.errors import UnsupportedError
from compiler.graph.program import SIDES, LoopNest, Program, Side
from compiler.graph.same import Same
from compiler.graph.task_graph import Stream, Task, TimingSpec


@dataclass(frozen=True, slots=True)
class Activity:
    """`cycles` it takes when nothing blocks, `rest` until the task can begin with its next one; `depth` of its
    pipeline; what it reads and writes, by stream.
    """

    name: str
    task: str
    cycles: float
    rest: float
    depth: int
    reads: Mapping[str, Window]
    writes: Mapping[str, Window]


class Event(NamedTuple):
    """An activity in a round of each repetition around it: the name of that, and the number of the round, from 0, the
    first left out.
    """

    activity: Activity
    rounds: tuple[tuple[str, int], ...]


class Part(NamedTuple):
    """Tokens of a stream that event number `source` writes, from its token number `written` on, and event `target`
    reads, from its token number `read` on.
    """

    stream: str
    source: int
    written: int
    target: int
    read: int
    tokens: int


@dataclass(frozen=True)
class Events:
    """All events in an order in which they can be run one after the other, the next one of the same task for each that
    has one, the parts of all streams.
    """

    events: tuple[Event, ...]
    next: Mapping[int, int]
    parts: tuple[Part, ...]


def events_of(
    tasks: Sequence[Task], programs: Mapping[str, Program], streams: Sequence[Stream], *, folded: bool = True
) -> Events:
    """Events of all `tasks`, which run `programs`, with their `streams`; what comes from other tasks is in no part. If
    not `folded`, each is an activity of its own.

    Raises UnsupportedError where an event needs tokens that it makes itself, or none are written.
    """
    names, inner = {stream.name for stream in streams}, {task.name for task in tasks}
    events: list[Event] = []
    after: dict[int, int] = {}
    for task in tasks:
        first = len(events)
        unnamed = frozenset(a.stream for a in (*task.reads, *task.writes) if a.stream not in names)
        events += _events(task, Same(programs[task.name]), unnamed, folded=folded)
        after |= {n: n + 1 for n in range(first, len(events) - 1)}
    ends = _ends(events)
    parts = [part for stream in streams if stream.source in inner for part in _parts(stream, ends, events)]
    place = _places(events, after, parts)
    moved = (
        Part(stream, place[source], written, place[target], read, tokens)
        for stream, source, written, target, read, tokens in parts
    )
    ordered = sorted(range(len(events)), key=place.__getitem__)
    return Events(tuple(events[n] for n in ordered), {place[a]: place[b] for a, b in after.items()}, tuple(moved))


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def _events(task: Task, same: Same[Program], unnamed: frozenset[str], *, folded: bool) -> tuple[Event, ...]:
    """Of one task that runs this program, without what it moves on `unnamed` streams."""
    return tuple(_Walk(task, unnamed, folded).events(same.value, f"{task.name}/", ()))


class _Walk:
    """Over the program of one task."""

    def __init__(self, task: Task, unnamed: frozenset[str], folded: bool) -> None:
        self.task, self.unnamed, self.folded = task, unnamed, folded
        self.known: dict[str, tuple[Activity, ...]] = {}

    def events(self, program: Program, path: str, rounds: tuple[tuple[str, int], ...]) -> Iterator[Event]:
        for number, part in enumerate(program):
            here = f"{path}{number}"
            if isinstance(part, LoopNest):
                if here not in self.known:
                    self.known[here] = tuple(self._activities(here, part)) if part.iterations else ()
                yield from (Event(activity, rounds) for activity in self.known[here])
                continue
            for time in range(part.times):
                if time and self.folded:
                    yield from self.events(part.body, f"{here}.", (*rounds, (here, time - 1)))
                else:
                    yield from self.events(part.body, f"{here}#{time}.", rounds)

    def _activities(self, name: str, nest: LoopNest) -> Iterator[Activity]:
        task, timing = self.task, self.task.timing
        whole = TimingSpec(nest.trips, timing.ii, timing.depth, timing.style, nest.restarts, timing.gap)
        reads, writes = (self._windows(nest, side) for side in SIDES)
        reading, writing = (clock(task, nest.iterations, reads=side)[1] for side in (True, False))
        rest = float(timing.depth - timing.ii + timing.gap)
        if is_two_phase(task):
            yield Activity(f"{name}/fill", task.name, cycles_of(whole, reading), 0.0, timing.depth, reads, {})
            yield Activity(f"{name}/drain", task.name, cycles_of(whole, writing), rest, timing.depth, {}, writes)
            return
        cycles = cycles_of(whole, reading)
        rest += cycles_of(whole, nest.iterations) - cycles
        yield Activity(name, task.name, cycles, rest, timing.depth, reads, writes)

    def _windows(self, nest: LoopNest, side: Side) -> dict[str, Window]:
        found: dict[str, Window] = {}
        for access in nest.reads if side == "reads" else nest.writes:
            if access.stream not in self.unnamed:
                first, span = clock(self.task, nest.iterations, reads=side == "reads")
                found[access.stream] = window(nest.trips, access.gates, first, span)
        return found


_Ends = tuple[Mapping[str, list[tuple[int, int]]], Mapping[str, list[tuple[int, int]]]]
"""By stream, the numbers of events that write it, and of those that read it, with their tokens."""


def _ends(events: Sequence[Event]) -> _Ends:
    written, read = defaultdict[str, list[tuple[int, int]]](list), defaultdict[str, list[tuple[int, int]]](list)
    for number, (activity, _) in enumerate(events):
        for name, out in activity.writes.items():
            written[name].append((number, out.tokens))
        for name, into in activity.reads.items():
            read[name].append((number, into.tokens))
    return written, read


def _parts(stream: Stream, ends: _Ends, events: Sequence[Event]) -> Iterator[Part]:
    """Of one stream. What it holds at first is read before anything that is written."""
    name = stream.name
    writers, readers = (side.get(name, []) for side in ends)
    written = deque(writers)
    begun, initial = 0, stream.initial  # tokens of the first writer that were read; tokens that nobody wrote
    for target, count in readers:
        read = min(initial, count)
        initial -= read
        while read < count:
            if not written:
                task = events[target].activity.task
                raise UnsupportedError(f"{task} waits for tokens of {name} that nobody writes")
            source, there = written[0]
            some = min(count - read, there - begun)
            yield Part(name, source, begun, target, read, some)
            read, begun = read + some, begun + some
            if begun == there:
                written.popleft()
                begun = 0


def _places(events: Sequence[Event], after: Mapping[int, int], parts: Sequence[Part]) -> dict[int, int]:
    """The place of each event in an order in which tokens are written by events before those that read them."""
    leads: list[list[int]] = [[] for _ in events]
    waits = [0] * len(events)
    for source, target in (*after.items(), *((part.source, part.target) for part in parts)):
        leads[source].append(target)
        waits[target] += 1
    ready = deque(n for n, count in enumerate(waits) if not count)
    place: dict[int, int] = {}
    while ready:
        event = ready.popleft()
        place[event] = len(place)
        for target in leads[event]:
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    if len(place) < len(events):
        stuck = next(part for part in parts if part.source not in place and part.target not in place)
        raise UnsupportedError(
            f"{events[stuck.target].activity.task} waits for tokens of {stuck.stream} that are written only while it "
            "runs: FIFOs by rule take loops whose rounds are nests of their own; certify the design instead"
        )
    return place
