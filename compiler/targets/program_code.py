"""C++ of a program (`compiler.graph.program`): one flat pipelined loop that runs every nest in turn.

The body stands there once, whatever the number of nests; tables, indexed by the turn, say how these differ. What
repeats nests lies outside the pipeline, which drains at the end of each:

    static const int trips0[2] = {1, 4};
    for (int turn = 0; turn < 2; ++turn) {
    #pragma HLS loop_flatten off
      const int trip0 = trips0[turn];
      const int iterations = trip0 * 8;
      for (int t = 0; t < iterations; ++t) {
    #pragma HLS loop_tripcount min=8 max=32 avg=20
    #pragma HLS pipeline II=1 style=flp
        ...

Loop counters advance by carry, so that nothing is divided. A trip count that follows an argument is computed before
the flat loop. `loop_flatten off` keeps a loop from being flattened with those inside it (AMD UG1399).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from math import prod
from typing import NamedTuple

from compiler.errors import UnsupportedError
from compiler.graph.abreast import SEVERAL
from compiler.graph.program import (
    Access,
    BoundLoop,
    Gate,
    LoopNest,
    Program,
    Repeat,
    Side,
    behind_layers,
    is_last,
    nests,
    single_runs,
    spares_last,
    trips_at,
)
from compiler.graph.task_graph import TimingSpec
from compiler.targets.counters import advance, counter
from compiler.targets.writer import CppWriter, Namer


class _Level(NamedTuple):
    """Parts of a program that repeat others: part n makes `times[n]` rounds of `sizes[n]` parts of the level inside,
    where they follow those of part n - 1; inside the last level are the nests.
    """

    times: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class ProgramCode:
    """A program in a function that is being written: make it, ask it for conditions and tables, then open `pipelined`.

    `turns` are the nests, all with as many loops: around the shorter ones are some of one iteration. `turn` is the C++
    of the running one's number. `counters` name the loops, outermost first; those that nobody asks for are "".
    `inside` stands within each round of what the program repeats, of what is in no other: within layers, phases; it is
    given the C++ of whether the round is behind all that is repeated, "" for never.
    """

    out: CppWriter
    namer: Namer
    turns: tuple[LoopNest, ...]
    turn: str
    counters: tuple[str, ...]
    _levels: tuple[_Level, ...]
    _indices: tuple[str, ...]
    _entries: tuple[str, ...]
    _trips: tuple[str, ...]
    _arguments: Mapping[str, str]
    _innermost: int
    _ends_alone: bool
    inside: Callable[[str], AbstractContextManager[object]] = nullcontext
    _whole: str = ""

    @staticmethod
    def of(
        out: CppWriter,
        namer: Namer,
        program: Program,
        arguments: Mapping[str, str],
        *,
        counted: bool = False,
        counters: tuple[str, ...] = (),
        innermost: str = "",
    ) -> "ProgramCode":
        """The code of `program`, whose arguments have the names `arguments` in C++. Loops that gates need have
        counters, with `counted` all of them; `counters` are names that they have already, `innermost` that of the last.
        Writes tables. Raises UnsupportedError for what has no C++.
        """
        if any(bound.loop < nest.restarts for nest in nests(program) for bound in nest.bounds):
            raise UnsupportedError("how often a nest restarts can not follow an argument; write its runs as turns")
        levels, found = _levels_of(single_runs(program))
        if not found:
            raise UnsupportedError("a program that runs no nest has no C++")
        loops = max(len(nest.trips) for nest in found)
        turns = tuple(_with_loops(nest, loops) for nest in found)
        gated = {g.loop for nest in turns for a in (*nest.reads, *nest.writes) for g in a.gates}
        outermost = 0 if counted else min(gated, default=loops)
        counters = counters or tuple(namer.name(f"i{k}") if k >= outermost else "" for k in range(loops))
        counters = (*counters[:-1], innermost) if innermost else counters
        indices = _indices_of(levels, namer)
        deepest = max(1, *map(_depth, program))  # the first level is the program itself, once
        alone, given = bool(behind_layers(program)), (levels, indices, (), (), arguments, deepest)
        code = ProgramCode(out, namer, turns, indices[-1], counters, *given, alone)
        # Of several trip counts that only the turn says the table has their product, too: HLS would multiply in it.
        known = [k for k in range(loops) if not code._followed(k)]
        differ = [k for k in known if len({nest.trips[k] for nest in turns}) > 1]
        whole = ""
        if len(differ) > 1:
            whole = code.per_turn("points", [prod(nest.trips[k] for k in known) for nest in turns])
        entries = tuple(
            code.per_turn(f"trips{k}", [nest.trips[k] for nest in turns])
            if counters[k] or k not in differ or not whole
            else "1"
            for k in range(loops)
        )
        trips = tuple(
            entry if entry.isdigit() and not code._followed(k) else namer.name(f"trip{k}")
            for k, entry in enumerate(entries)
        )
        return replace(code, _entries=entries, _trips=trips, _whole=whole)

    def per_turn(self, hint: str, values: Sequence[int | None]) -> str:
        """C++ of a number or truth of each turn: itself where all have the same, else an entry of a table, which is
        written here, before the loops. None where it does not matter.
        """
        return self._entry(hint, values, self.turn)

    def _entry(self, hint: str, values: Sequence[int | None], index: str) -> str:
        known = [value for value in values if value is not None]
        if len(set(known)) == 1:
            return str(known[0]).lower()
        return f"{self._table(hint, [known[0] if value is None else value for value in values])}[{index}]"

    def _table(self, hint: str, values: Sequence[int]) -> str:
        name, kind = self.namer.name(hint), "bool" if isinstance(values[0], bool) else "int"
        self.out.listed(f"static const {kind} {name}[{len(values)}] = {{", [str(v).lower() for v in values], "};")
        return name

    def condition(self, side: Side, stream: str, hint: str) -> str:
        """When an iteration reads, or writes, a token of the stream, which the function calls `hint`; as C++, "" for
        always. Writes tables, before the loops.
        """
        accesses = [nest.access(side, stream) for nest in self.turns]
        hint = f"{side}_{hint}"
        used = self.per_turn(hint, [access is not None for access in accesses])
        parts = [] if used == "true" else [used]
        for k in range(len(self.counters)):
            parts += self._gate_parts(k, accesses, hint)
        return " && ".join(parts)

    def _gate_parts(self, k: int, accesses: Sequence[Access | None], hint: str) -> list[str]:
        """In loop k. What moves with the last iteration is counted from there, all else from the first, so that both
        stay what they are, whatever the argument (`compiler.graph.program.access_at`).
        """
        ends = [_Ends.of(nest, access, k) for nest, access in zip(self.turns, accesses, strict=True)]
        parts = [self._from(k, ends, hint), self._until(k, ends, hint)]
        return [part for part in parts if part]

    def _from(self, k: int, ends: "Sequence[_Ends | None]", hint: str) -> str:
        """From which iteration of loop k on; "" for all."""
        used = [end for end in ends if end is not None and end.low]
        if not used:
            return ""
        back = all(end.is_last for end in used if end.follows)
        if not back and any(end.is_last for end in used if end.follows):
            raise UnsupportedError("turns in which the same token is among the first and among the last have no C++")
        if not back:
            return f"{self.counters[k]} >= {self.per_turn(f'{hint}_from{k}', [end and end.low for end in ends])}"
        count = self.per_turn(f"{hint}_among_last{k}", [end and end.most - end.low for end in ends])
        return f"{self.counters[k]} {'==' if count == '1' else '>='} {_less(self._trips[k], count)}"

    def _until(self, k: int, ends: "Sequence[_Ends | None]", hint: str) -> str:
        """Up to which iteration of loop k; "" for all."""
        used = [end for end in ends if end is not None and end.high < end.most]
        if not used:
            return ""
        back = any(end.spares_last for end in used if end.follows)
        if back and not all(end.spares_last for end in used if end.follows):
            raise UnsupportedError("turns in which the same token is among the first and before the last have no C++")
        if back:
            count = self.per_turn(f"{hint}_before_last{k}", [end and end.most - end.high for end in ends])
            return f"{self.counters[k]} < {_less(self._trips[k], count)}"
        count = self.per_turn(f"{hint}_among_first{k}", [end and end.high for end in ends])
        return f"{self.counters[k]} == 0" if count == "1" else f"{self.counters[k]} < {count}"

    def _followed(self, k: int) -> dict[BoundLoop, list[int]]:
        """How loop k follows arguments, and in which turns."""
        found: dict[BoundLoop, list[int]] = {}
        for number, nest in enumerate(self.turns):
            if (bound := _bound(nest, k)) is not None:
                found.setdefault(bound, []).append(number)
        return found

    @contextmanager
    def pipelined(self, timing: TimingSpec, each: int = 1) -> Generator[None]:
        """The loops, around what one iteration does, pipelined as `timing` says, `each` of whose iterations it is."""
        out, tables = self.out, [self._tables_of(level, index) for level, index in self._indexed()]
        with ExitStack() as stack:
            for number, ((level, index), bounds, inner) in enumerate(
                zip(self._indexed(), tables, self._indices[1:], strict=True)
            ):
                rounds, first, end = bounds
                if rounds != "1":
                    self._open(stack, self.namer.name("round"), "0", rounds, level.times)
                if number == self._innermost:
                    stack.enter_context(self.inside(self._behind(level, index)))
                if inner != index:
                    self._open(stack, inner, first, end, level.sizes)
            iterations = self._declare_trips()
            single = len(self.counters) == 1 and bool(self.counters[0])
            flat = self.counters[0] if single else self.namer.name("t")
            counted = [(name, trip) for name, trip in zip(self.counters, self._trips, strict=True) if name]
            if not single:
                for k, name in enumerate(self.counters):
                    if name:
                        out.line(counter(name, max(nest.trips[k] for nest in self.turns) - 1))
            stack.enter_context(out.block(f"for (int {flat} = 0; {flat} < {iterations}; ++{flat})"))
            if not iterations.isdigit():
                out.pragma(self._tripcount())
            out.pragma(f"pipeline II={timing.ii * each} style={timing.style}")
            yield
            if not single:
                advance(out, [name for name, _ in counted], [_less(trip, "1") for _, trip in counted])

    def _behind(self, level: _Level, index: str) -> str:
        """That the running part of a level is what the program does behind all that it repeats."""
        return f"{index} == {len(level.times) - 1}" if self._ends_alone and len(level.times) > 1 else ""

    def _indexed(self) -> list[tuple[_Level, str]]:
        return list(zip(self._levels, self._indices, strict=False))

    def _tables_of(self, level: _Level, index: str) -> tuple[str, str, str]:
        """Rounds of the part `index`, its first part of the level inside, and that behind its last."""
        rounds = self._entry("rounds", level.times, index)
        if set(level.sizes) == {1} or len(level.sizes) == 1:
            return rounds, "0", str(level.sizes[0])
        firsts = self._table("firsts", [0, *accumulate(level.sizes)])
        return rounds, f"{firsts}[{index}]", f"{firsts}[{index} + 1]"

    def _open(self, stack: ExitStack, name: str, first: str, end: str, trips: Sequence[int]) -> None:
        stack.enter_context(self.out.block(f"for (int {name} = {first}; {name} < {end}; ++{name})"))
        self.out.pragma("loop_flatten off")
        if not end.isdigit():
            self.out.pragma(f"loop_tripcount min={min(trips)} max={max(trips)} avg={sum(trips) // len(trips)}")

    def _declare_trips(self) -> str:
        """What the flat loop counts up to; the trip counts of this turn, where they are no numbers."""
        for k, (entry, trip) in enumerate(zip(self._entries, self._trips, strict=True)):
            if not trip.isdigit():
                self.out.line(f"const int {trip} = {self._followed_trip(k, entry)};")
        followed = [trip for k, trip in enumerate(self._trips) if self._followed(k)]
        product = _product([*followed, self._whole] if self._whole else self._trips)
        if product.isidentifier() or product.isdigit():
            return product
        name = self.namer.name("iterations")
        self.out.line(f"const int {name} = {product};")
        return name

    def _followed_trip(self, k: int, entry: str) -> str:
        """Begun tiles of the argument in turns that follow one."""
        text = entry
        for bound, numbers in self._followed(k).items():
            trip = bound_trip(bound, self._arguments[bound.argument.name])
            if len(numbers) == len(self.turns):
                return trip
            text = f"{' || '.join(f'{self.turn} == {n}' for n in numbers)} ? {trip} : {text}"
        return text

    def _tripcount(self) -> str:
        """Of the flat loop, in all that launches can make it; on average in one whose arguments are the largest."""
        zeros = {b.argument.name: int(b.argument.name == SEVERAL) for nest in self.turns for b in nest.bounds}
        least = min(prod(trips_at(nest.trips, nest.bounds, zeros)) for nest in self.turns)
        weights = _runs_of(self._levels)
        total = sum(nest.iterations * weight for nest, weight in zip(self.turns, weights, strict=True))
        most = max(nest.iterations for nest in self.turns)
        return f"loop_tripcount min={least} max={most} avg={total // max(1, sum(weights))}"


class _Ends(NamedTuple):
    """Iterations [low, high) of at most `most` of a loop, which `follows` an argument or does not."""

    low: int
    high: int
    most: int
    follows: bool
    is_last: bool
    spares_last: bool

    @staticmethod
    def of(nest: LoopNest, access: Access | None, loop: int) -> "_Ends | None":
        if access is None:
            return None
        most = nest.trips[loop]
        gate = next((g for g in access.gates if g.loop == loop), Gate(loop, 0, most))
        follows = _bound(nest, loop) is not None
        return _Ends(gate.low, gate.high, most, follows, is_last(gate, most), spares_last(gate, most))


def bound_trip(bound: BoundLoop, name: str) -> str:
    """Iterations of a loop, as C++; `name` is that of its argument."""
    _, argument, fixed, each = bound
    more = argument.more + argument.tile - 1
    tiles = f"({name} + {more})" if more else name
    tiles = tiles if argument.tile == 1 else f"{tiles} / {argument.tile}"
    tiles = tiles if each == 1 else f"{tiles} * {each}"
    return tiles if not fixed else f"{tiles} {'+' if fixed > 0 else '-'} {abs(fixed)}"


def _bound(nest: LoopNest, loop: int) -> BoundLoop | None:
    return next((bound for bound in nest.bounds if bound.loop == loop), None)


def _less(trip: str, count: str) -> str:
    return str(int(trip) - int(count)) if trip.isdigit() and count.isdigit() else f"{trip} - {count}"


def _product(factors: Sequence[str]) -> str:
    number = prod(int(f) for f in factors if f.isdigit())
    names = [f for f in factors if not f.isdigit()]
    return " * ".join([*names, *([str(number)] if number != 1 or not names else [])])


def _with_loops(nest: LoopNest, loops: int) -> LoopNest:
    """The nest inside loops of one iteration, so that it has so many."""
    more = loops - len(nest.trips)
    if not more:
        return nest
    reads, writes = (tuple(access.inside(more) for access in side) for side in (nest.reads, nest.writes))
    bounds = tuple(bound._replace(loop=bound.loop + more) for bound in nest.bounds)
    return LoopNest((1,) * more + nest.trips, reads, writes, bounds=bounds)


def _depth(part: LoopNest | Repeat) -> int:
    return 1 + max(map(_depth, part.body), default=0) if isinstance(part, Repeat) else 0


def _levels_of(program: Program) -> tuple[tuple[_Level, ...], tuple[LoopNest, ...]]:
    """Levels, outermost first, the whole program being the first one's only part; and its nests."""
    parts: list[tuple[int, Program]] = [(1, program)]
    levels: list[_Level] = []
    for depth in range(max(map(_depth, program), default=0), 0, -1):
        inside = [_parts_of(body, depth) for _, body in parts]
        levels.append(_Level(tuple(times for times, _ in parts), tuple(map(len, inside))))
        parts = [part for found in inside for part in found]
    levels.append(_Level(tuple(times for times, _ in parts), tuple(len(body) for _, body in parts)))
    return tuple(levels), tuple(nest for _, body in parts for nest in body if isinstance(nest, LoopNest))


def _parts_of(body: Program, depth: int) -> list[tuple[int, Program]]:
    """What of `body` repeats down to `depth`, with how often, and all that stands between, once."""
    found: list[tuple[int, Program]] = []
    for deep, group in groupby(body, lambda part: _depth(part) == depth):
        members = tuple(group)
        found += [(p.times, p.body) for p in members if isinstance(p, Repeat)] if deep else [(1, members)]
    return found


def _indices_of(levels: Sequence[_Level], namer: Namer) -> tuple[str, ...]:
    """C++ of the number of the running part of each level, and of the running nest."""
    found = ["0"]
    for level in levels:
        names = "turn" if len(found) == len(levels) else "part"
        found.append(found[-1] if set(level.sizes) == {1} else namer.name(names))
    return tuple(found)


def _runs_of(levels: Sequence[_Level]) -> list[int]:
    """How often each nest is run."""
    runs = [1]
    for level in levels:
        runs = [run * t for run, t, size in zip(runs, level.times, level.sizes, strict=True) for _ in range(size)]
    return runs
