"""What tasks that take turns do one after the other, and which tokens pass between what.

An `Activity` is a nest of a task as it is written, with all its repetitions but the first, which fills what the others
find full; a converter that fills before it drains has one for each. An `Event` is one of its repetitions. Of each
stream, a `Part` are tokens that one event writes and another one reads: the tokens of a stream are counted on both
sides, so it is known which.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.affine_schedule import clock, cycles_of, is_two_phase, window
from compiler.analysis.core import Numbers, Words, numbers, words
from compiler.graph.program import LoopNest, Program, Side
from compiler.graph.same import Same
from compiler.graph.task_graph import Task, TimingSpec

_Rounds = tuple[tuple[int, int], ...]  # of each repetition around an event: its number, and that of the round, from 0


class Activities(NamedTuple):
    """Activities and events of a task as the core reads them, by numbers of their own: the streams that are passed, the
    places in the program of the repetitions, the names of the activities.
    """

    streams: tuple[str, ...]
    repeats: tuple[str, ...]
    names: tuple[str, ...]
    words: Words
    numbers: Numbers


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def activities_of(task: Task, same: Same[Program], unnamed: frozenset[str], *, folded: bool) -> Activities:
    """Of one task that runs this program, without what it moves on `unnamed` streams. If not `folded`, each event is an
    activity of its own.
    """
    return _Walk(task, unnamed, folded).over(same.value)


class _Walk:
    """Over the program of one task."""

    def __init__(self, task: Task, unnamed: frozenset[str], folded: bool) -> None:
        self.task, self.unnamed, self.folded = task, unnamed, folded
        self.known = dict[str, range]()  # activities of a nest, by its place
        self.streams, self.repeats, self.names = dict[str, int](), dict[str, int](), list[str]()
        self.words, self.numbers = words(), numbers()

    def over(self, program: Program) -> Activities:
        events = list(self._events(program, f"{self.task.name}/", ()))
        place = {event: number for number, event in enumerate(events)}
        of_events = words((len(events),))
        for activity, rounds in events:
            of_events.extend((activity, len(rounds)))
            for level, (repeat, time) in enumerate(rounds):
                earlier = (*rounds[:level], (repeat, time - 1), *rounds[level + 1 :])
                of_events.extend((repeat, time, place[activity, earlier] if time else -1))
        described = words((len(self.names),)) + self.words + of_events
        # the first rounds of what is around it are no other place
        repeats = tuple([repeat.replace("#0", "") for repeat in self.repeats])
        return Activities(tuple(self.streams), repeats, tuple(self.names), described, self.numbers)

    def _events(self, program: Program, path: str, rounds: _Rounds) -> Iterator[tuple[int, _Rounds]]:
        for number, part in enumerate(program):
            here = f"{path}{number}"
            if isinstance(part, LoopNest):
                if here not in self.known:
                    first = len(self.names)
                    if part.iterations:
                        self._describe(here, part)
                    self.known[here] = range(first, len(self.names))
                yield from ((activity, rounds) for activity in self.known[here])
                continue
            for time in range(part.times):
                if time and self.folded:
                    repeat = self.repeats.setdefault(here, len(self.repeats))
                    yield from self._events(part.body, f"{here}.", (*rounds, (repeat, time - 1)))
                else:
                    yield from self._events(part.body, f"{here}#{time}.", rounds)

    def _describe(self, name: str, nest: LoopNest) -> None:
        """What it takes when nothing blocks, and until the task can begin with its next activity."""
        task, timing = self.task, self.task.timing
        whole = TimingSpec(nest.trips, timing.ii, timing.depth, timing.style, nest.restarts, timing.gap)
        reading, writing = (clock(task, nest.iterations, reads=side)[1] for side in (True, False))
        rest = float(timing.depth - timing.ii + timing.gap)
        if is_two_phase(task):
            self._add(f"{name}/fill", cycles_of(whole, reading), 0.0, nest, ("reads",))
            self._add(f"{name}/drain", cycles_of(whole, writing), rest, nest, ("writes",))
            return
        cycles = cycles_of(whole, reading)
        self._add(name, cycles, rest + (cycles_of(whole, nest.iterations) - cycles), nest, ("reads", "writes"))

    def _add(self, name: str, cycles: float, rest: float, nest: LoopNest, sides: tuple[Side, ...]) -> None:
        self.names.append(name)
        self.words.append(self.task.timing.depth)
        self.numbers.extend((cycles, rest))
        for side in ("reads", "writes"):
            accesses = (nest.reads if side == "reads" else nest.writes) if side in sides else ()
            passed = [access for access in accesses if access.stream not in self.unnamed]
            self.words.append(len(passed))
            for access in passed:
                first, span = clock(self.task, nest.iterations, reads=side == "reads")
                tokens, *flow = window(nest.trips, access.gates, first, span)
                self.words.extend((self.streams.setdefault(access.stream, len(self.streams)), tokens))
                self.numbers.extend(flow)
