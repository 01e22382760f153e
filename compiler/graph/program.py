"""What a task runs in time: pipelined loop nests in turn, and where in them a token is moved.

Trip counts are constants, or follow an argument of the launch (a position, rows of a prompt): then the constants are
those of its largest value, and `at` gives the program of any other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import prod
from typing import Literal, NamedTuple

from compiler.errors import InvalidInputError
from compiler.graph.passage import passage

Side = Literal["reads", "writes"]
SIDES: tuple[Side, Side] = ("reads", "writes")
COUNT = "count"  # what a launch is told: how many inputs it takes, one after the other
LOAD = "load"  # and whether it fills memories that keep what they hold between launches, before it reads them
MANY_TILES = 8  # up to so many, a design is tried with every number of them


class Gate(NamedTuple):
    """Restricts an access to the iterations where loop `loop` is in [low, high)."""

    loop: int
    low: int
    high: int


class Access(NamedTuple):
    """Reads or writes of one stream: a token in every iteration that all gates admit."""

    stream: str
    gates: tuple[Gate, ...] = ()

    def inside(self, loops: int) -> "Access":
        """The access in a nest with so many more loops around."""
        return Access(self.stream, tuple(Gate(gate.loop + loops, gate.low, gate.high) for gate in self.gates))


class Argument(NamedTuple):
    """A number that a launch is given, 0 to `most`, and the `tile`s that are begun by as many things and `more`: a
    position is the number of those before it, so that with itself there is one more.
    """

    name: str
    most: int
    tile: int = 1
    more: int = 0

    def trip(self, value: int) -> int:
        """Begun tiles. Raises InvalidInputError for a value that it can not take."""
        if not 0 <= value <= self.most:
            raise InvalidInputError(f"{self.name} is {value}; it must be 0 to {self.most}")
        return -(-(value + self.more) // self.tile)

    @property
    def usual(self) -> int:
        """What it is where nobody says: the largest; of launches that load memories only the first one does."""
        return 0 if self.name == LOAD else self.most


class BoundLoop(NamedTuple):
    """Loop number `loop` makes `each` iterations for each begun tile of `argument`, and `fixed` ones besides."""

    loop: int
    argument: Argument
    fixed: int = 0
    each: int = 1

    def trip(self, value: int) -> int:
        """Iterations of the loop. Raises InvalidInputError for a value that its argument can not take."""
        return self.fixed + self.each * self.argument.trip(value)

    @property
    def most(self) -> int:
        """Iterations at the largest value."""
        return self.trip(self.argument.most)


Values = Mapping[str, int]
"""Of arguments, by name; one that is missing is as usual."""


def telling_values(arguments: Iterable[Argument]) -> Iterator[dict[str, int]]:
    """Values of the arguments by which programs differ: of each the least, the largest and those at the border of a
    tile, while the others have their largest.
    """
    for argument in arguments:
        tile, most = argument.tile, argument.most
        near = {0, 1, tile - 1, tile, tile + 1, most - tile, most - 1}
        yield from ({argument.name: value} for value in sorted(near) if 0 <= value < most)


def few_iterations(arguments: Iterable[Argument]) -> Iterator[dict[str, int]]:
    """Values with which loops make no iteration, or one, of each argument while the others have their largest."""
    for argument in arguments:
        yield from ({argument.name: value} for value in (0, argument.tile) if value < argument.most)


def all_launches(arguments: Sequence[Argument]) -> tuple[Values, ...]:
    """Launches one after the other that make every number of tiles that each argument can begin, of more than
    `MANY_TILES` some, the others at their largest and all at their least; long ones beside short ones.
    """
    found: list[Values] = [{}]
    for argument in arguments:
        values = [min(argument.most, trip * argument.tile) for trip in _numbers_of_tiles(argument)]
        mixed = [value for pair in zip(values, reversed(values), strict=True) for value in pair]
        found += [{argument.name: value} for value in (*values, *mixed)]
    return (*found, {argument.name: 0 for argument in arguments}) if len(arguments) > 1 else tuple(found)


def _numbers_of_tiles(argument: Argument) -> Sequence[int]:
    """Least and most, those beside them, and the middle, where there are many. Launches of an argument differ in how
    often the same is repeated, so that what fills a FIFO in one of these does in all between them.
    """
    most = argument.trip(argument.most)
    return range(most + 1) if most <= MANY_TILES else (0, 1, 2, most // 2, most - 2, most - 1, most)


def trips_at(trips: Sequence[int], bounds: Sequence[BoundLoop], values: Values) -> tuple[int, ...]:
    """Trip counts for these values."""
    found = list(trips)
    for bound in bounds:
        found[bound.loop] = bound.trip(values.get(bound.argument.name, bound.argument.usual))
    return tuple(found)


def access_at(access: Access, trips: Sequence[int], now: Sequence[int]) -> Access:
    """The access where loops that have `trips` at most have `now`: iterations that a launch does without are those in
    front of the last. The first stays the first, the last the last, and what is open at an end stays so.
    """
    gates = (_gate_at(gate, trips[gate.loop], now[gate.loop]) for gate in access.gates)
    return Access(access.stream, tuple(gate for gate in gates if gate is not None))


def is_last(gate: Gate, trip: int) -> bool:
    """Whether it admits the last of so many iterations alone, wherever that is."""
    return gate.low > 0 and gate.low == trip - 1


def spares_last(gate: Gate, trip: int) -> bool:
    """Whether it admits iterations up to the last of so many, wherever that is, but not that."""
    return gate.high == trip - 1 and gate.high > 1


def _gate_at(gate: Gate, most: int, now: int) -> Gate | None:
    if now == most:
        return gate
    if is_last(gate, most):
        low, high = max(0, now - 1), now
    else:
        moves = gate.high == most or spares_last(gate, most)
        high = max(0, gate.high - (most - now)) if moves else min(now, gate.high)
        low = min(gate.low, high)
    return None if (low, high) == (0, now) else Gate(gate.loop, low, high)


@dataclass(frozen=True, slots=True)
class LoopNest:
    """One pipelined loop nest: `trips` outermost first, and its accesses, of each stream one on each side at most.

    Its outer `restarts` loops lie outside the pipeline: each of their iterations is a run of the nest inside. A trip
    count of 0 is an argument that is 0: an inner one makes runs of no iterations, an outer one no runs. `bounds` are
    the loops that follow an argument.
    """

    trips: tuple[int, ...]
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    restarts: int = 0
    bounds: tuple[BoundLoop, ...] = ()

    @property
    def iterations(self) -> int:
        return prod(self.trips)

    @property
    def run(self) -> int:
        """Iterations of one run."""
        return prod(self.trips[self.restarts :])

    @property
    def runs(self) -> int:
        return prod(self.trips[: self.restarts])

    def access(self, side: Side, stream: str) -> Access | None:
        """How it uses a stream."""
        return next((a for a in (self.reads if side == "reads" else self.writes) if a.stream == stream), None)

    def is_at_end(self, access: Access) -> bool:
        """Whether it uses the stream in the last iteration of its innermost loop only: that of a token's words."""
        last = len(self.trips) - 1
        return bool(access.gates) and access.gates[-1] == Gate(last, self.trips[-1] - 1, self.trips[-1])

    def at(self, values: Values) -> "LoopNest":
        """The nest without arguments, for these values."""
        if not self.bounds:
            return self
        now = trips_at(self.trips, self.bounds, values)
        reads, writes = (tuple(access_at(a, self.trips, now) for a in side) for side in (self.reads, self.writes))
        return LoopNest(now, reads, writes, self.restarts)


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` one after the other, `times` in all: layers, tokens."""

    times: int
    body: "Program"


Program = tuple[LoopNest | Repeat, ...]


def nests(program: Program) -> Iterator[LoopNest]:
    """The nests as they are written, whatever is repeated."""
    for part in program:
        if isinstance(part, LoopNest):
            yield part
        else:
            yield from nests(part.body)


def walked(program: Program) -> Iterator[LoopNest]:
    """The nests as they are run, as often as they are repeated."""
    for part in program:
        if isinstance(part, LoopNest):
            yield part
        else:
            for _ in range(part.times):
                yield from walked(part.body)


def with_nests(program: Program, change: Callable[[LoopNest], LoopNest]) -> Program:
    """The program with every nest changed."""
    return tuple(
        change(part) if isinstance(part, LoopNest) else Repeat(part.times, with_nests(part.body, change))
        for part in program
    )


def behind_layers(program: Program) -> Program:
    """What is behind all that it repeats, as it does for layers; nothing of a program that repeats nothing."""
    repeats = [n for n, part in enumerate(program) if isinstance(part, Repeat)]
    return program[repeats[-1] + 1 :] if repeats else ()


def of_layers(program: Program) -> Program:
    """The program without that."""
    return program[: len(program) - len(behind_layers(program))]


def without_loading(program: Program) -> Program:
    """The program without nests that fill memories: what launches do that find them filled."""
    return tuple(
        part
        for part in program
        if isinstance(part, Repeat) or all(bound.argument.name != LOAD for bound in part.bounds)
    )


def program_at(program: Program, values: Values) -> Program:
    """The program without arguments, for these values."""
    return with_nests(program, lambda nest: nest.at(values))


def arguments_of(programs: Iterable[Program]) -> tuple[Argument, ...]:
    """That trip counts follow, in the order of their names."""
    return tuple(sorted({bound.argument for program in programs for nest in nests(program) for bound in nest.bounds}))


def iterations(program: Program) -> int:
    """Of all nests together."""
    return sum(map(_length, program))


def runs(program: Program) -> int:
    """How often the pipeline starts anew, those of no iterations left out."""
    return sum(
        (part.runs if part.run else 0) if isinstance(part, LoopNest) else part.times * runs(part.body)
        for part in program
    )


def streams(program: Program, side: Side) -> tuple[str, ...]:
    """Streams that are read, or written, in order of appearance."""
    found = (a.stream for nest in nests(program) for a in (nest.reads if side == "reads" else nest.writes))
    return tuple(dict.fromkeys(found))


def tokens(program: Program, side: Side, stream: str) -> int:
    """Tokens of a stream that are read, or written."""
    counts = (
        _tokens_of_nest(part, side, stream)
        if isinstance(part, LoopNest)
        else part.times * tokens(part.body, side, stream)
        for part in program
    )
    return sum(counts)


def single_runs(program: Program) -> Program:
    """The program with nests that have no outer loops: each run of a pipeline is a nest of its own, and runs that are
    alike are repeated. O(gates), however many runs there are.
    """
    parts: list[LoopNest | Repeat] = []
    for part in program:
        parts += (Repeat(part.times, single_runs(part.body)),) if isinstance(part, Repeat) else _runs_of(part)
    return tuple(parts)


def without_single_rounds(program: Program) -> Program:
    """The program with what is repeated once as it is, without the repetition: phases are for chunks of a prompt alone
    (`compiler.analysis.prompt_rows`).
    """
    parts: list[LoopNest | Repeat] = []
    for part in program:
        body = without_single_rounds(part.body) if isinstance(part, Repeat) else (part,)
        parts += (Repeat(part.times, body),) if isinstance(part, Repeat) and part.times != 1 else body
    return tuple(parts)


def _runs_of(nest: LoopNest) -> Program:
    """Between two ends of gates on the outermost loop, which follows no argument, all its iterations are alike."""
    if not nest.restarts:
        return (nest,)
    parts: list[LoopNest | Repeat] = []
    for (inner,), times in outer_iterations(nest):
        body = _runs_of(inner)
        parts += body if times == 1 else (Repeat(times, body),)
    repeats = [_flat(part) for part in parts]
    groups = [(body, sum(times for _, times in group)) for body, group in groupby(repeats, lambda repeat: repeat[0])]
    return tuple(Repeat(times, body) if times > 1 else body[0] for body, times in groups if body)


def in_a_row(programs: Iterable[Program]) -> Program:
    """One program after the other; those that are the same, repeated."""
    counted = [(program, len(list(group))) for program, group in groupby(programs)]
    return tuple(part for program, times in counted for part in ((Repeat(times, program),) if times > 1 else program))


def outer_iterations(nest: LoopNest) -> Iterator[tuple[tuple[LoopNest], int]]:
    """What the iterations of the outermost loop run, and how many in a row the same."""
    gates = [gate for access in (*nest.reads, *nest.writes) for gate in access.gates if gate.loop == 0]
    ends = sorted({0, nest.trips[0], *(gate.low for gate in gates), *(gate.high for gate in gates)})
    yield from (((_inside(nest, low),), high - low) for low, high in pairwise(ends))


def _flat(part: LoopNest | Repeat) -> tuple[Program, int]:
    """What is repeated, and how often, where repetitions of one repetition are those of its body."""
    if isinstance(part, LoopNest):
        return (part,), 1
    match part.body:
        case (Repeat(times, body),):
            return body, part.times * times
        case body:
            return body, part.times


def _inside(nest: LoopNest, index: int) -> LoopNest:
    """An iteration of the outermost loop."""

    def inside(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
        kept = (a for a in accesses if all(g.low <= index < g.high for g in a.gates if g.loop == 0))
        return tuple(Access(a.stream, tuple(g._replace(loop=g.loop - 1) for g in a.gates if g.loop)) for a in kept)

    bounds = tuple(bound._replace(loop=bound.loop - 1) for bound in nest.bounds)
    return LoopNest(nest.trips[1:], inside(nest.reads), inside(nest.writes), nest.restarts - 1, bounds)


def passed_on(program: Program, stream: str, read: str, write: str) -> Program:
    """What passes on, from one stream to another, what the program writes to `stream`: a token in each iteration, and
    in as many runs. A nest that follows an argument stays as it is, with iterations that move nothing.
    """
    parts: list[LoopNest | Repeat] = []
    for part in program:
        if isinstance(part, Repeat):
            body = passed_on(part.body, stream, read, write)
            parts += (Repeat(part.times, body),) if body else ()
        elif (access := part.access("writes", stream)) is not None:
            parts += _nest_passed_on(part, access, read, write)
    return tuple(parts)


def _nest_passed_on(nest: LoopNest, access: Access, read: str, write: str) -> Program:
    if nest.bounds:
        reads, writes = (Access(read, access.gates),), (Access(write, access.gates),)
        return (LoopNest(nest.trips, reads, writes, nest.restarts, nest.bounds),)
    if nest.restarts:
        return passed_on(single_runs((nest,)), access.stream, read, write)
    moved = _tokens_of_nest(nest, "writes", access.stream)
    return (LoopNest((moved,), (Access(read),), (Access(write),)),) if moved else ()


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
        moved = tokens((part,), side, stream)
        if token < moved:
            return begin + _iteration_in(part, side, stream, token)
        token -= moved
        begin += _length(part)
    return None


def _length(part: LoopNest | Repeat) -> int:
    return part.iterations if isinstance(part, LoopNest) else part.times * iterations(part.body)


def _part_at(program: Program, iteration: int) -> tuple[int, LoopNest | Repeat]:
    begin = 0
    for part in program:
        if iteration < begin + _length(part):
            return begin, part
        begin += _length(part)
    raise IndexError(f"a program of {begin} iterations has no iteration {iteration}")


def _tokens_of_nest(nest: LoopNest, side: Side, stream: str) -> int:
    access = nest.access(side, stream)
    if access is None:
        return 0
    return passage(nest.trips, access.gates).tokens


def _iteration_in(part: LoopNest | Repeat, side: Side, stream: str, token: int) -> int:
    if isinstance(part, Repeat):
        before, token = divmod(token, tokens(part.body, side, stream))
        inside = iteration_of(part.body, side, stream, token)
        assert inside is not None
        return before * iterations(part.body) + inside
    access = part.access(side, stream)
    assert access is not None
    return passage(part.trips, access.gates).iteration_of(token)
