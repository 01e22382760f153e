"""The schedule of tasks that take turns, as `compiler.analysis.turning` has it, but slowly and in Python, with all that
it is made of: the native core is compared with it.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product, zip_longest
from math import ceil, floor, inf
from typing import NamedTuple

from typing_extensions import override

from compiler.analysis.affine_schedule import (
    MIN_DEPTH,
    ROUNDING_TOKENS,
    AffineSchedule,
    Edge,
    Ramp,
    Window,
    clock,
    cycles_of,
    in_flight_of,
    is_two_phase,
    lag_of,
    window,
)
from compiler.analysis.rounds import alike, repeats_of, shortened, spare_rounds
from compiler.analysis.turning import ROUNDS
from compiler.analysis.turning_schedule import LAUNCH
from compiler.errors import UnsupportedError
from compiler.graph.program import SIDES, LoopNest, Program, Repeat, Side, tokens
from compiler.graph.same import Same
from compiler.graph.task_graph import ComputeTask, LoadTask, RomTask, Stream, Task, TimingSpec
from compiler.options import Equalisation


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


_EVEN = 1e-6  # cycles


class Link(NamedTuple):
    """A part between two activities: the target begins `shift` cycles after its start, counted from the source's."""

    stream: Stream
    source: Activity
    target: Activity
    written: int
    read: int
    tokens: int
    shift: float

    def ramps(self, paces: Mapping[str, float]) -> tuple[Ramp, Ramp]:
        """Of writer and reader."""
        out, into = self.windows
        return out.ramp(paces[self.source.name], self.written), into.ramp(paces[self.target.name], self.read)

    @property
    def windows(self) -> tuple[Window, Window]:
        """Of writer and reader."""
        return self.source.writes[self.stream.name], self.target.reads[self.stream.name]

    def flow(self, paces: Mapping[str, float]) -> "Flow":
        """Where the target begins at its start."""
        ramps = self.ramps(paces)
        return Flow(lag_of(*ramps, self.tokens, self.source.depth), *in_flight_of(*ramps, self.tokens))

    def edge(self, flow: "Flow") -> Edge:
        """Between the starts of the two activities."""
        stream, shift = self.stream, self.shift
        base = flow.base + flow.rate * shift
        ends = self.source.name, self.target.name
        return Edge(stream.name, *ends, flow.lag - shift, base, flow.rate, stream.width, stream.tokens)


class Flow(NamedTuple):
    """Of a link: `Edge.lag`, `base` and `rate`."""

    lag: float
    base: float
    rate: float


class _Curve(NamedTuple):
    """Tokens over time: number 0 at `begin`, `tokens` in all, one in `each` cycles."""

    begin: float
    each: float
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`rounds` of a level that are not looked at, beside `looked_at` that are, all at least `period` cycles apart; each
    passes so many tokens of each stream.
    """

    rounds: int
    looked_at: int
    period: float
    tokens: Mapping[str, int]

    def beyond(self, stream: str, life: float) -> int:
        """Tokens of rounds that are not looked at, where one is held for `life` cycles."""
        return min(self.rounds, max(0, ceil(life / self.period) - (self.looked_at - 1))) * self.tokens[stream]


@dataclass(frozen=True, slots=True)
class TurningSchedule(AffineSchedule):
    """`edges` are parts of streams, several of each, which `links` tell in full. `events` have the cycles by which they
    start later than their activity. `slack` names the activities that may wait for their readers, `floor` the depths
    that launches with other arguments need.
    """

    streams: tuple[Stream, ...]
    links: tuple[Link, ...]
    events: tuple[tuple[Event, float], ...]
    paces: Mapping[str, float]
    slack: frozenset[str]
    left: tuple[LeftOut, ...]
    floor: Mapping[str, int]

    @override
    def earliest(self, wanted: Mapping[str, float]) -> dict[str, float]:
        found = longest_paths(self.nodes, (*self.edges, *self.phases), wanted, len(self.nodes) + 1)
        assert found is not None  # periods were chosen so
        return found

    @override
    def depths(self, start: Mapping[str, float]) -> dict[str, int]:
        paces = self.stretched(start)
        life: dict[str, float] = defaultdict(float)  # of what rounds pass
        repeated = {event.activity.name for event, _ in self.events if event.rounds}
        for link in (link for link in self.links if link.source.name in repeated):
            target = link.target.name
            ends = start[target] + link.shift
            ends += paces[target] * (1 + link.windows[1].late)
            life[link.stream.name] = max(life[link.stream.name], ends - start[link.source.name])
        written: dict[str, list[_Curve]] = defaultdict(list)
        read: dict[str, list[_Curve]] = defaultdict(list)
        for event, shift in self.events:
            name = event.activity.name
            begin, pace = start[name] + shift, paces[name]
            for stream, out in event.activity.writes.items():
                written[stream].append(_Curve(begin + pace * (out.begin - out.early), pace * out.each, out.tokens))
            for stream, into in event.activity.reads.items():
                read[stream].append(_Curve(begin + pace * (into.begin + into.late), pace * into.each, into.tokens))
        return {s.name: self._depth(s, written[s.name], read[s.name], life[s.name]) for s in self.streams}

    def _depth(self, stream: Stream, written: Sequence[_Curve], read: Sequence[_Curve], life: float) -> int:
        most = stream.initial + most_in_flight(written, read) + sum(one.beyond(stream.name, life) for one in self.left)
        held = min(stream.tokens + stream.initial, 1 + floor(most + ROUNDING_TOKENS))
        return max(MIN_DEPTH, self.floor.get(stream.name, 0), held)

    def stretched(self, start: Mapping[str, float]) -> dict[str, float]:
        """Paces of the nodes when they start so: those that may wait are as slow as their readers, where that delays
        nobody.
        """
        paces = dict(self.paces)
        leaving: dict[str, list[Link]] = defaultdict(list)
        entering: dict[str, list[Link]] = defaultdict(list)
        for link in self.links:
            leaving[link.source.name].append(link)
            entering[link.target.name].append(link)
        until: dict[str, float] = defaultdict(lambda: inf)
        for phase in self.phases:
            room = start[phase.target] - start[phase.source] - phase.lag + self.paces[phase.source]
            until[phase.source] = min(until[phase.source], room)
        for name in reversed(self.nodes):
            if name in self.slack and leaving[name]:
                wanted = min(_as_slow(link, paces) for link in leaving[name])
                if wanted > paces[name]:
                    bounds = [_slowest_writer(link, start, paces) for link in leaving[name]]
                    bounds += [_slowest_reader(link, start, paces) for link in entering[name]]
                    paces[name] = max(paces[name], min(wanted, until[name], *bounds))
        return paces


def _as_slow(link: Link, paces: Mapping[str, float]) -> float:
    """The pace of a writer that is as quick as its reader."""
    out, into = link.windows
    return paces[link.target.name] * into.each / out.each


def _slowest_writer(link: Link, start: Mapping[str, float], paces: Mapping[str, float]) -> float:
    """The slowest pace with which the source of a link keeps its lag."""
    out, into = link.windows
    read = into.ramp(paces[link.target.name], link.read)
    room = start[link.target.name] - start[link.source.name] + link.shift - link.source.depth - read.early
    found = inf
    for token in (0, link.tokens - 1):
        weight = out.late + out.begin + (link.written + token) * out.each
        if weight > 0:
            found = min(found, (room + read.at(token)) / weight)
    return found


def _slowest_reader(link: Link, start: Mapping[str, float], paces: Mapping[str, float]) -> float:
    """The slowest pace with which the target of a link keeps its lag."""
    out, into = link.windows
    written = out.ramp(paces[link.source.name], link.written)
    room = start[link.target.name] - start[link.source.name] + link.shift - link.source.depth - written.late
    found = inf
    for token in (0, link.tokens - 1):
        weight = into.early - into.begin - (link.read + token) * into.each
        if weight > 0:
            found = min(found, (room - written.at(token)) / weight)
    return found


def most_in_flight(written: Sequence[_Curve], read: Sequence[_Curve]) -> float:
    """Most tokens that were written, each at its earliest, and not yet read, each at its latest, one of them whole.
    O(curves x log curves).
    """
    changes: list[tuple[float, float, float]] = []  # cycle, tokens at once, tokens a cycle from then on
    for begin, each, count in written:
        changes.append((begin, 1.0, 1 / each))
        changes.append((begin + each * (count - 1), 0.0, -1 / each))
    for begin, each, count in read:
        changes.append((begin, 0.0, -1 / each))
        changes.append((begin + each * count, 0.0, 1 / each))
    changes.sort()
    level = slope = most = now = 0.0
    for cycle, jump, bend in changes:
        level += slope * (cycle - now) + jump
        slope, now = slope + bend, cycle
        most = max(most, level)
    return most


def longest_paths(
    nodes: Sequence[str], edges: Sequence[Edge], wanted: Mapping[str, float], sweeps: int
) -> dict[str, float] | None:
    """The earliest starts that keep the lags, none earlier than `wanted` (default 0), with edges that may lead back;
    None where so many sweeps do not find any.
    """
    start = {node: wanted.get(node, 0.0) for node in nodes}
    entering: dict[str, list[Edge]] = {node: [] for node in nodes}
    for edge in edges:
        entering[edge.target].append(edge)
    for _ in range(sweeps):
        moved = False
        for node in nodes:
            earliest = max([start[edge.source] + edge.lag for edge in entering[node]], default=0.0)
            if earliest > start[node] + _EVEN:
                start[node], moved = earliest, True
        if not moved:
            return start
    return None


SWEEPS = 20  # of longest paths, until a period is taken to be too short
LONGER = 1.05  # times as long it is tried then
TRIES = 60


def turning_schedule(tasks: Sequence[Task], streams: Sequence[Stream], equalisation: Equalisation) -> TurningSchedule:
    """The schedule of one kernel, at the largest arguments. O(nests x streams). Raises UnsupportedError, see
    `compiler.analysis.activities`. Loads go ahead of their readers: all that is looked at is when they begin.
    """
    loads = {task.name: task for task in tasks if isinstance(task, LoadTask | RomTask)}
    working = [task for task in tasks if task.name not in loads]
    passed = [stream for stream in streams if stream.source not in loads]
    loaded = {stream.name: loads[stream.source] for stream in streams if stream.source in loads}
    slack = {t.name for t in working if equalisation == "conservative" or not isinstance(t, ComputeTask)}
    programs = {task.name: task.single_runs for task in working}
    short, left, kinds = programs, list[_Left](), dict[str, int]()
    for kind, times in enumerate(alike(programs.values())):
        repeats = _repeats(programs, times)
        kinds |= dict.fromkeys(repeats, kind)
        if by := spare_rounds(short, passed, ROUNDS, times, inside=True):
            left.append(_left(repeats, passed, by))
            short = {name: shortened(program, by, times, inside=True) for name, program in short.items()}
    found = _Rounds(events_of(working, short, streams), passed, loaded, kinds).schedule(slack, left)
    if found is None:  # rounds that are within others for one end of a stream only
        found = _Rounds(events_of(working, programs, streams, folded=False), passed, loaded, kinds).schedule(slack, ())
    if found is None:
        raise UnsupportedError(f"no schedule of {working[0].name} and the tasks around it keeps all its lags")
    return found


@dataclass(frozen=True, slots=True)
class _Left:
    """Rounds that are left out: of which repetitions, how many of each, and the tokens of each stream in one."""

    repeats: frozenset[str]
    rounds: int
    tokens: Mapping[str, int]


def _repeats(programs: Mapping[str, Program], times: range) -> dict[str, Repeat]:
    """Repetitions of so many rounds, by name."""
    parts = ((f"{task}/{path}", part) for task, program in programs.items() for path, part in repeats_of(program))
    return {name: part for name, part in parts if part.times in times}


def _left(repeats: Mapping[str, Repeat], streams: Sequence[Stream], by: int) -> _Left:
    held = {s.name: 0 for s in streams}
    leaving = defaultdict[str, list[str]](list)
    for stream in streams:
        leaving[stream.source].append(stream.name)
    for name, part in repeats.items():
        for stream in leaving[name.partition("/")[0]]:
            held[stream] = max(held[stream], tokens(part.body, "writes", stream))
    return _Left(frozenset(repeats), by, held)


class _Rounds:
    """Events, their paces and periods."""

    def __init__(
        self,
        events: Events,
        streams: Sequence[Stream],
        loaded: Mapping[str, LoadTask | RomTask],
        kinds: Mapping[str, int],
    ) -> None:
        self.events, self.streams, self.loaded = events, streams, loaded
        self.links, self.numbers = _all_links(events, streams)
        self.entering: list[list[tuple[Part, int]]] = [[] for _ in events.events]  # with the number of its link
        for part, number in zip(events.parts, self.numbers, strict=True):
            self.entering[part.target].append((part, number))
        self.before = {target: source for source, target in events.next.items()}
        self.paces = {LAUNCH: 0.0}
        self.group = _groups(events, kinds)

    def schedule(self, slack: set[str], left: Sequence[_Left]) -> TurningSchedule | None:
        """None where no period does."""
        self._pace()
        events = self.events.events
        nodes = (LAUNCH, *dict.fromkeys(event.activity.name for event in events))
        waiting = frozenset(event.activity.name for event in events if event.activity.task in slack)
        flows = [link.flow(self.paces) for link in self.links]
        periods = self._periods(self._starts([flow.lag for flow in flows]))
        for _ in range(TRIES):
            shifts = [sum([time * periods[repeat] for repeat, time in event.rounds]) for event in events]
            links, phases = list[Link](), tuple(self._phases(shifts))
            edges = list[Edge]()
            for number, shift in self._shifted(shifts):
                links.append(self.links[number]._replace(shift=shift))
                edges.append(links[-1].edge(flows[number]))
            if longest_paths(nodes, (*edges, *phases), {}, SWEEPS) is not None:
                shifted = tuple(zip(events, shifts, strict=True))
                out = tuple(_left_out(one, periods) for one in left)
                parts = tuple(self.streams), tuple(links), shifted
                return TurningSchedule(nodes, tuple(edges), phases, *parts, self.paces, waiting, out, {})
            periods = {repeat: period * LONGER for repeat, period in periods.items()}
        return None

    def _pace(self) -> None:
        """A pace for each activity: its own, or slower where tokens come slower while it runs. What it has in its last
        round stays.
        """
        starts: list[float] = []
        paces: list[float] = []
        events = self.events.events
        for number, (activity, _) in enumerate(events):
            own, begin = activity.cycles, self._free(number, starts, paces)
            arriving: list[tuple[float, float]] = []  # of each part, when its last token comes, and its share of a pace
            for (stream, source, written, _, read, count), _ in self.entering[number]:
                into, writing, slow = activity.reads[stream], events[source].activity, paces[source]
                out = writing.writes[stream]
                latest = starts[source] + writing.depth + slow * out.late
                first = slow * (out.begin + written * out.each)
                begin = max(begin, latest + first - own * (into.begin + read * into.each - into.early))
                share = into.begin + (read + count - 1) * into.each - into.early
                arriving.append((latest + (first + slow * out.each * (count - 1)), share))
            pace = own
            for last, share in arriving:
                if share > 0 and begin + own * share < last:
                    pace = max(pace, min((last - begin) / share, own + last - begin))
            starts.append(begin)
            paces.append(pace)
            self.paces[activity.name] = pace

    def _starts(self, lags: Sequence[float]) -> list[float]:
        """The earliest start of each event at its activity's pace, with the lags of all links."""
        paces = [self.paces[event.activity.name] for event in self.events.events]
        starts: list[float] = []
        for number in range(len(self.events.events)):
            begin = self._free(number, starts, paces)
            for part, link in self.entering[number]:
                begin = max(begin, starts[part.source] + lags[link])
            starts.append(begin)
        return starts

    def _free(self, number: int, starts: Sequence[float], paces: Sequence[float]) -> float:
        """When the task has ended what it does before, and what it loads has begun to come."""
        before = self.before.get(number)
        if before is not None:
            return starts[before] + paces[before] + self.events.events[before].activity.rest
        return self._launched(self.events.events[number].activity)

    def _one_behind_the_other(self) -> Iterator[tuple[int, int]]:
        """Events between which a load goes from one of its streams to the next: the last that reads the one, and the
        first that reads the other.
        """
        for load in {load.name: load for load in self.loaded.values() if len(load.writes) > 1}.values():
            assert isinstance(load, LoadTask)
            joint, streams = load.dma.joint, [access.stream for access in load.writes]
            inside = len(joint.parts) if joint is not None and joint.packed else 0
            rounds = joint.rounds if joint is not None and inside else 1
            in_rounds = [self._readers(stream, rounds) for stream in streams[:inside]]
            readers = [one for each in zip_longest(*in_rounds, fillvalue=[]) for one in each]
            readers += [one for stream in streams[inside:] for one in self._readers(stream, 1)]
            yield from ((one[-1], other[0]) for one, other in pairwise(filter(None, readers)))

    def _readers(self, stream: str, rounds: int) -> list[list[int]]:
        """Events that read a stream, of each round of a load that are looked at."""
        found = [n for n, event in enumerate(self.events.events) if stream in event.activity.reads]
        if rounds == 1:
            return [found]
        if any(self.events.events[n].rounds for n in found):
            by_round: dict[int, list[int]] = {}
            for n in found:
                outer = self.events.events[n].rounds
                by_round.setdefault(outer[0][1] + 1 if outer else 0, []).append(n)
            return [by_round[number] for number in sorted(by_round)]
        each = -(-len(found) // rounds)  # none is folded
        return [found[k : k + each] for k in range(0, len(found), each)] if each else []

    def _launched(self, activity: Activity) -> float:
        """How long after a launch it starts at least: what it loads has begun to come."""
        pace = self.paces.get(activity.name, activity.cycles)
        begun = (
            self.loaded[stream].timing.depth - pace * (into.begin - into.early)
            for stream, into in activity.reads.items()
            if stream in self.loaded
        )
        return max((0.0, *begun))

    def _periods(self, starts: Sequence[float]) -> dict[str, float]:
        """Cycles between rounds of each repetition, as far as the last two are apart."""
        place = {(event.activity.name, event.rounds): number for number, event in enumerate(self.events.events)}
        apart: dict[tuple[str, int], float] = {}
        for number, (activity, rounds) in enumerate(self.events.events):
            for level, (repeat, time) in enumerate(rounds):
                if time:
                    earlier = (*rounds[:level], (repeat, time - 1), *rounds[level + 1 :])
                    apart[activity.name, level] = starts[number] - starts[place[activity.name, earlier]]
        periods: dict[str, float] = defaultdict(float)
        for activity, rounds in self.events.events:
            for level, (repeat, _) in enumerate(rounds):
                group = self.group[repeat]
                periods[group] = max(periods[group], apart.get((activity.name, level), 0.0))
        return {repeat: periods[group] for repeat, group in self.group.items()}

    def _shifted(self, shifts: Sequence[float]) -> Iterator[tuple[int, float]]:
        """Links, by number, and how much later than its start the target of each begins: each once, however many rounds
        it is in.
        """
        seen = set[tuple[int, int]]()
        for part, number in zip(self.events.parts, self.numbers, strict=True):
            shift = shifts[part.target] - shifts[part.source]
            key = (number, round(shift))
            if key not in seen:
                seen.add(key)
                yield number, shift

    def _phases(self, shifts: Sequence[float]) -> Iterator[Edge]:
        """From each activity to the next one of its task, and from the launch to all."""
        found: dict[tuple[str, str], float] = {}
        for before, after in self.events.next.items():
            source, target = self.events.events[before].activity, self.events.events[after].activity
            lag = self.paces[source.name] + source.rest - (shifts[after] - shifts[before])
            key = (source.name, target.name)
            found[key] = max(found.get(key, lag), lag)
        for before, after in self._one_behind_the_other():
            source, target = self.events.events[before].activity, self.events.events[after].activity
            lag = self.paces[source.name] - (shifts[after] - shifts[before])
            key = (source.name, target.name)
            found[key] = max(found.get(key, lag), lag)
        activities = {event.activity.name: event.activity for event in self.events.events}
        found |= {(LAUNCH, name): self._launched(activity) for name, activity in activities.items()}
        for (source, target), lag in found.items():
            yield Edge("", source, target, lag, 0.0, 0.0, 0, 0)


def _all_links(events: Events, streams: Sequence[Stream]) -> tuple[list[Link], list[int]]:
    """Of all parts: activities that pass tokens to each other, each once, and the number of that of each part."""
    by_name, links, numbers = {stream.name: stream for stream in streams}, list[Link](), list[int]()
    known: dict[tuple[str, str, str, int, int, int], int] = {}
    for stream, source, written, target, read, count in events.parts:
        writing, reading = events.events[source].activity, events.events[target].activity
        key = (writing.name, reading.name, stream, written, read, count)
        if (number := known.get(key)) is None:
            number = known[key] = len(links)
            links.append(Link(by_name[stream], writing, reading, written, read, count, 0.0))
        numbers.append(number)
    return links, numbers


def _groups(events: Events, kinds: Mapping[str, int]) -> dict[str, str]:
    """Repetitions of one kind that pass tokens to each other in rounds behind the first of both have one name."""
    group = {repeat: repeat for event in events.events for repeat, _ in event.rounds}

    def of(repeat: str) -> str:
        while group[repeat] != repeat:
            repeat = group[repeat]
        return repeat

    for part in events.parts:
        source, target = events.events[part.source].rounds, events.events[part.target].rounds
        for (one, time), (other, later) in product(source, target):
            if time and later and kinds[_plain(one)] == kinds[_plain(other)]:
                group[of(one)] = of(other)
    return {repeat: of(repeat) for repeat in group}


def _plain(repeat: str) -> str:
    """The name of a repetition without the first rounds in which it is."""
    return repeat.replace("#0", "")


def _left_out(one: _Left, periods: Mapping[str, float]) -> LeftOut:
    """The first round of a repetition is none of those that are looked at."""
    found = [period for repeat, period in periods.items() if _plain(repeat) in one.repeats]
    period = min(found, default=inf)  # none where an argument leaves nothing to do
    return LeftOut(one.rounds, ROUNDS - 1, period, one.tokens)
