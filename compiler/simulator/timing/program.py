"""What a process runs: pipelined loop nests in turn, and where in them a token is moved."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal

from compiler.graph import task_graph
from compiler.graph.task_graph import Access

Side = Literal["reads", "writes"]


@dataclass(frozen=True, slots=True)
class Nest:
    """One pipelined loop nest: `trips` outermost first, and its accesses, of each FIFO one on each side at most.

    Its outer `restarts` loops lie outside the pipeline: each of their iterations is a run of the nest inside. A trip
    count of 0 is an argument that is 0: an inner one makes runs of no iterations, an outer one no runs.
    """

    trips: tuple[int, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    restarts: int = 0

    @property
    def iterations(self) -> int:
        return prod(self.trips)

    @property
    def run(self) -> int:
        """Iterations of one run."""
        return prod(self.trips[self.restarts :])

    def access(self, side: Side, stream: str) -> Access | None:
        """How it uses a FIFO."""
        return next((a for a in (self.reads if side == "reads" else self.writes) if a.stream == stream), None)


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` one after the other, `times` in all: layers, tokens."""

    times: int
    body: "Program"


Program = tuple[Nest | Repeat, ...]


def nests(program: Program) -> Iterator[Nest]:
    """The nests as they are written, whatever is repeated."""
    for part in program:
        if isinstance(part, Nest):
            yield part
        else:
            yield from nests(part.body)


def iterations(program: Program) -> int:
    """Of all nests together."""
    return sum(map(_length, program))


def streams(program: Program, side: Side) -> tuple[str, ...]:
    """FIFOs that are read, or written, in order of appearance."""
    found = (a.stream for nest in nests(program) for a in (nest.reads if side == "reads" else nest.writes))
    return tuple(dict.fromkeys(found))


def run_at(program: Program, iteration: int) -> tuple[int, int]:
    """First iteration of the run that has iteration number `iteration` (from 0), and that behind its last."""
    begin, part = _part_at(program, iteration)
    while isinstance(part, Repeat):
        once = iterations(part.body)
        begin += (iteration - begin) // once * once
        inside, part = _part_at(part.body, iteration - begin)
        begin += inside
    begin += (iteration - begin) // part.run * part.run
    return begin, begin + part.run


def iteration_of(program: Program, side: Side, stream: str, token: int) -> int | None:
    """The iteration that moves token number `token` (from 0) of those that the program reads, or writes; None where it
    moves fewer.
    """
    begin = 0
    for part in program:
        tokens = _tokens((part,), side, stream)
        if token < tokens:
            return begin + _iteration_in(part, side, stream, token)
        token -= tokens
        begin += _length(part)
    return None


def _length(part: Nest | Repeat) -> int:
    return part.iterations if isinstance(part, Nest) else part.times * iterations(part.body)


def _part_at(program: Program, iteration: int) -> tuple[int, Nest | Repeat]:
    begin = 0
    for part in program:
        if iteration < begin + _length(part):
            return begin, part
        begin += _length(part)
    raise IndexError(f"a program of {begin} iterations has no iteration {iteration}")


def _tokens(program: Program, side: Side, stream: str) -> int:
    """Tokens of a FIFO that are read, or written."""
    counts = (
        _tokens_of_nest(part, side, stream) if isinstance(part, Nest) else part.times * _tokens(part.body, side, stream)
        for part in program
    )
    return sum(counts)


def _tokens_of_nest(nest: Nest, side: Side, stream: str) -> int:
    access = nest.access(side, stream)
    if access is None:
        return 0
    gates = {g.loop: (g.low, g.high) for g in access.gates}
    ranges = (gates.get(k, (0, trip)) for k, trip in enumerate(nest.trips))
    return prod(high - low for low, high in ranges)


def _iteration_in(part: Nest | Repeat, side: Side, stream: str, token: int) -> int:
    if isinstance(part, Repeat):
        before, token = divmod(token, _tokens(part.body, side, stream))
        inside = iteration_of(part.body, side, stream, token)
        assert inside is not None
        return before * iterations(part.body) + inside
    access = part.access(side, stream)
    assert access is not None
    return task_graph.iteration_of(part.trips, access, token)
