"""An affine schedule of tasks that take turns, repeat what they do, or stand in a loop.

Its nodes are activities (`compiler.analysis.activities`). Round r of what is repeated starts r periods after round 0;
repetitions that pass tokens to each other in round after round have the same period, that of the slowest cycle or the
slowest task. So a part that passes from round r to round r + d is an edge between two activities whose lag is d periods
less, and few rounds tell about all. Tasks go on to their next activity when the one before has left the pipeline: an
edge that carries nothing.

Nodes run at the pace of what they read where that comes while they run (`normal`), and where they may wait as slow as
their readers and the starts let them; `conservative` lets all of them wait. What a FIFO then holds at most is counted
over all parts of its stream: tokens that are written long before they are read are held by all rounds between.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import NamedTuple

from typing_extensions import override

from compiler.analysis.activities import Activity, Event
from compiler.analysis.affine_schedule import (
    MIN_DEPTH,
    ROUNDING_TOKENS,
    AffineSchedule,
    Edge,
    Ramp,
    Window,
    in_flight_of,
    lag_of,
)
from compiler.graph.task_graph import Stream

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
        life: dict[str, float] = defaultdict(float)
        for link in self.links:
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
