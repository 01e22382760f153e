"""Memory that one launch writes and reads again: which loads may ask, and when.

AXI orders no read behind a write of another port, and HLS takes two pointers to be independent (AMD UG1399). So a store
sends a *credit*, a token that it writes when memory has answered that all of a run of its pipeline is there, and a load
takes credits before it asks for what they stand for. A store that reads one stream and writes others writes credits to
these, in the last iteration of a run; a load takes them in the first one of a run.

What a load may ask for is no question of time: with so many credits taken, so much of the image is there, however fast
or slow everything is. `hazards` counts them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from compiler.errors import VerificationError
from compiler.graph.program import (
    Access,
    LoopNest,
    Program,
    Repeat,
    iterations,
    nests,
    runs,
    single_runs,
    tokens,
    walked,
)

MOST_RUNS = 1 << 20  # of a pipeline, as they are looked at one by one


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What a load or store does with the image of `value`, which it walks in order, an iteration a position.

    `again` says of each loop of a load whether it reads again; where there are none of these for its loops, it reads
    the image from end to end and then begins anew.
    """

    task: str
    kernel: int
    value: str
    writes: bool
    program: Program
    again: tuple[bool, ...] = ()


class CreditStream(NamedTuple):
    """From a store to a load; the first `initial` credits stand for what was there before the launch."""

    name: str
    source: str
    target: str
    initial: int


@dataclass(frozen=True, slots=True)
class Hazard:
    """`load` may read the word that memory held before `store` wrote it: in its run number `run` (from 0) it asks for
    `asked` positions of the image of `value`, and `credited` are behind the credits that it has taken.
    """

    load: str
    store: str
    value: str
    run: int
    asked: int
    credited: int

    def __str__(self) -> str:
        return (
            f"{self.load} may read what {self.value} was before {self.store} writes it: its run {self.run} asks for "
            f"{self.asked} positions of that image, and credits of {self.store} stand for {self.credited}; let it take "
            "them before"
        )


def hazards(uses: Iterable[MemoryUse], streams: Sequence[CreditStream]) -> Iterator[Hazard]:
    """The first hazard of each load and store of one value in one kernel. Raises VerificationError where there are too
    many runs to look at. O(runs of their pipelines).
    """
    stores: dict[tuple[int, str], list[MemoryUse]] = defaultdict(list)
    loads: list[MemoryUse] = []
    for use in uses:
        if use.writes:
            stores[use.kernel, use.value].append(use)
        else:
            loads.append(use)
    for load in loads:
        for store in stores[load.kernel, load.value]:
            between = [s for s in streams if (s.source, s.target) == (store.task, load.task)]
            if (found := _first_hazard(store, load, between)) is not None:
                yield found


def _first_hazard(store: MemoryUse, load: MemoryUse, streams: Sequence[CreditStream]) -> Hazard | None:
    for use in (store, load):
        if runs(use.program) > MOST_RUNS:
            raise VerificationError(f"{use.task} makes more than {MOST_RUNS} runs: too many to follow its credits")
    there = {stream.name: _credited(store.program, stream.name) for stream in streams}
    taken = {stream.name: -stream.initial for stream in streams}  # those stand for nothing
    for number, (run, asked) in enumerate(_asks(load, iterations(store.program))):
        for name in taken:
            taken[name] += tokens((run,), "reads", name)
        credited = max((_behind(there[name], count) for name, count in taken.items()), default=0)
        if asked > credited:
            return Hazard(load.task, store.task, load.value, number, asked, credited)
    return None


def _credited(program: Program, stream: str) -> list[int]:
    """Positions that are there after each credit that the store writes to the stream."""
    found, written = list[int](), 0
    for run in _busy_runs(program):
        written += run.iterations
        found += [written] * tokens((run,), "writes", stream)
    return found


def _behind(credited: Sequence[int], taken: int) -> int:
    return credited[min(taken, len(credited)) - 1] if taken > 0 and credited else 0


def _busy_runs(program: Program) -> Iterator[LoopNest]:
    """Each run with iterations: a program may repeat empty ones as often as it likes."""
    return walked(_busy(single_runs(program)))


def _busy(program: Program) -> Program:
    busy = (part for part in program if iterations((part,)))
    return tuple(replace(part, body=_busy(part.body)) if isinstance(part, Repeat) else part for part in busy)


def _asks(load: MemoryUse, positions: int) -> Iterator[tuple[LoopNest, int]]:
    """Each run with iterations, and how many positions of the image it and those before it need to be there."""
    found = list(_busy_runs(load.program))
    match load.program:
        case (LoopNest() as nest,) if len(nest.trips) == len(load.again):
            ends = _ends(nest, load.again)
        case _:
            ends = _running_ends(found, positions)
    most = 0
    for run, end in zip(found, ends, strict=True):
        most = max(most, end)
        yield run, most


def _ends(nest: LoopNest, again: Sequence[bool]) -> Iterator[int]:
    """The position behind the last one that each run asks for."""
    if not nest.iterations:
        return
    walks: list[int] = []  # positions from one iteration of each loop to the next
    stride = 1
    for trip, rereads in zip(reversed(nest.trips), reversed(again), strict=True):
        walks.insert(0, 0 if rereads else stride)
        stride *= 1 if rereads else trip
    outer = nest.restarts
    last = sum((trip - 1) * walk for trip, walk in zip(nest.trips[outer:], walks[outer:], strict=True))
    for indices in product(*map(range, nest.trips[:outer])):
        yield sum(index * walk for index, walk in zip(indices, walks[:outer], strict=True)) + last + 1


def _running_ends(found: Iterable[LoopNest], positions: int) -> Iterator[int]:
    read = 0
    for run in found:
        read += run.iterations
        yield min(read, positions)


def misplaced_credit(program: Program, names: Collection[str], *, writes: bool) -> str | None:
    """The first of the credit streams `names` that a store writes elsewhere than in the last iteration of a run, or a
    load reads elsewhere than in the first one; None where there is none.
    """
    for nest in nests(program):
        for access in nest.writes if writes else nest.reads:
            if access.stream in names and not _at_border(nest, access, writes):
                return access.stream
    return None


def _at_border(nest: LoopNest, access: Access, last: bool) -> bool:
    """Whether it moves a token in the last, or in the first, iteration of a run alone."""
    gates = {gate.loop: (gate.low, gate.high) for gate in access.gates}
    inside = range(nest.restarts, len(nest.trips))
    return all(
        gates.get(k, (0, nest.trips[k])) == ((nest.trips[k] - 1, nest.trips[k]) if last else (0, 1)) for k in inside
    )
