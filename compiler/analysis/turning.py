"""The affine schedule of a kernel whose tasks take turns: its paces and its periods.

All events of few rounds start as early as they can, first at the paces at which tokens come, then at those that each
activity has in the last round. How far the last rounds are apart is the period, or a little less where filling takes
many rounds: one that is too short lets no start keep all lags, and is made longer.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product, zip_longest
from math import inf

from compiler.analysis.activities import Activity, Events, Part, events_of
from compiler.analysis.affine_schedule import Edge
from compiler.analysis.rounds import alike, repeats_of, shortened, spare_rounds
from compiler.analysis.turning_schedule import LeftOut, Link, TurningSchedule, longest_paths
from compiler.errors import UnsupportedError
from compiler.graph.program import Program, Repeat, tokens
from compiler.graph.task_graph import ComputeTask, LoadTask, RomTask, Stream, Task
from compiler.options import Equalisation

ROUNDS = 4  # that are looked at
SWEEPS = 20  # of longest paths, until a period is taken to be too short
LONGER = 1.05  # times as long it is tried then
TRIES = 60
LAUNCH = ""  # the node that starts with the kernel


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
        self.links, self.numbers = _links(events, streams)
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


def _links(events: Events, streams: Sequence[Stream]) -> tuple[list[Link], list[int]]:
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
