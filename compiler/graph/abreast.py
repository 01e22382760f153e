"""Rows of a chunk that are computed side by side: by copies of the tasks that are busy longest.

Copy k of n gets the rows k, k + n, ... of a chunk, and a stream between two of these tasks is there as often. In front
of them the tokens of each row go to the stream of its copy (*dealt*), behind them they come from there, one row after
the other (*collected*). What a load brings them is the same for all rows: it is read once for those side by side
(*grouped*), and written to the streams of all of them (*shared*). A token that is in no chunk is a row 0: other copies
rest.

Where what is loaded comes more slowly than a copy could take it, each copy takes several rows with it, in turns: with
a token that is loaded an iteration of the first, one of the second, then the next token. Such tasks are *interleaved*,
and so are the tokens of a stream between two of them, which is as many times as deep. All others take one row after the
other, so that a stream to or from one of these (*split*, where it has copies too) is there once for each row.

What such a task does behind layers, as an engine for a vocabulary, is wanted of one row of a prompt alone: the first
copy does it for all rows, one after the other, with streams of its own (`Control.behind`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, nests, with_nests

Passing = Literal["within", "interleaved", "dealt", "collected", "split", "shared", "grouped"]
SEVERAL = "several"  # rows that a copy takes in turns, as an argument of its loops
SHARED_DEPTH = 16  # of what is loaded for several rows, for those but the first
ONCE: tuple[Passing, ...] = ("shared", "grouped")  # for the rows side by side
APART: tuple[Passing, ...] = ("dealt", "collected", "split")  # whose one end has several of them


class Stream(Protocol):
    """A FIFO from one task to another."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


class Control(Protocol):
    """Which tasks are copied (`compiler.graph.task_graph.Control`)."""

    @property
    def abreast(self) -> int: ...
    @property
    def each(self) -> int: ...
    @property
    def copied(self) -> tuple[str, ...]: ...
    @property
    def interleaved(self) -> tuple[str, ...]: ...
    @property
    def behind(self) -> tuple[str, ...]: ...


def copy_name(name: str, copy: int) -> str:
    """What copy number `copy` of a task or a stream is called."""
    return f"{name}_row{copy}" if copy else name


def is_carrier(kind: str, reads: int, writes: int) -> bool:
    """Whether a task of the kind passes on what it reads from one stream: a relay, or what deals out the lanes."""
    return reads == 1 and (kind == "lanes" or (kind == "route" and writes == 1))


class Abreast(NamedTuple):
    """So many rows side by side: the tasks that have copies, `interleaved` ones among them, of which each takes `each`
    rows, and how rows pass streams, by name; those of which there is one `for_each` row.
    """

    rows: int
    copied: frozenset[str]
    passing: Mapping[str, Passing]
    each: int = 1
    interleaved: frozenset[str] = frozenset()
    for_each: frozenset[str] = frozenset()

    @staticmethod
    def of(control: Control, streams: Iterable[Stream], loads: Collection[str], carriers: Collection[str]) -> "Abreast":
        """Of a design with these streams, loads, and carriers, which pass on what they read from one stream: a carrier
        behind a copied task is there as often, one behind a load passes tokens once.
        """
        copied, interleaved = frozenset(control.copied), set(control.interleaved)
        into, out_of, every = dict[str, Stream](), dict[str, Stream](), tuple(streams)
        known = tuple(stream for stream in every if stream.name not in control.behind)
        alone = {end for s in every if s.name in control.behind for end in (s.source, s.target)}
        relays = frozenset(carriers) - copied - alone
        for stream in known:
            if stream.target in relays:
                into[stream.target] = stream
            if stream.source in relays:
                out_of[stream.source] = stream
        found, carrying = dict[str, Passing](), set[str]()
        for stream in known:
            first, last, carried = stream, stream, set[str]()
            while first.source in relays:
                first = into[first.source]
            while last.target in relays:
                last = out_of[last.target]
            if first.source in copied and last.target in copied:
                found[stream.name] = "within"
                carried = {end for end in (stream.source, stream.target) if end in relays}
            elif first.source in loads and last.target in copied:
                found[stream.name] = "shared" if stream.target in copied else "grouped"
            elif stream.target in copied:
                found[stream.name] = "dealt"
            elif first.source in copied:
                found[stream.name] = "within" if stream.target in relays else "collected"
                carried = {stream.target} & relays
            carrying |= carried
            if first.source in interleaved:
                interleaved |= carried
        whole = Abreast(control.abreast, copied | carrying, found, control.each, frozenset(interleaved))
        return whole._parted(known)

    def _parted(self, streams: Iterable[Stream]) -> "Abreast":
        """With a stream for each row where one end takes rows in turns and the other does not."""
        passing, apart = dict(self.passing), set[str]()
        for stream in streams:
            ends = (stream.source in self.interleaved) + (stream.target in self.interleaved)
            if ends == 0 or passing[stream.name] in ONCE:
                continue
            if passing[stream.name] == "within":
                passing[stream.name] = "interleaved" if ends == 2 else "split"
            apart |= {stream.name} if ends == 1 else set()
        return self._replace(passing=passing, for_each=frozenset(apart))

    @property
    def side_by_side(self) -> int:
        """Copies of a task."""
        return self.rows // self.each

    def started(self, go: Callable[[str], str]) -> "Abreast":
        """With the streams by which each copy is told to begin, called so after its task."""
        words: dict[str, Passing] = {go(task): "dealt" for task in self.copied}
        return self._replace(passing={**self.passing, **words})

    def is_there_often(self, stream: str) -> bool:
        """Whether the stream has copies."""
        return self.passing.get(stream, "grouped") != "grouped"

    def copies(self, name: str) -> int:
        """How often the task, or the stream, is there."""
        if name in self.for_each:
            return self.rows
        return self.side_by_side if name in self.copied or self.is_there_often(name) else 1

    def choices(self, task: str, stream: str) -> int:
        """FIFOs of the stream, of several rows, among which the task chooses one for each row."""
        each = self.each if stream in self.for_each else 1
        several = task not in self.copied and self.passing.get(stream) in APART
        return each * self.side_by_side if several else each

    def fifos(self, stream: str) -> tuple[str, ...]:
        """What the FIFOs of the stream are called in hardware."""
        copies, passing = self.side_by_side, self.passing.get(stream)
        if stream in self.for_each:
            sides = [f"{stream}_{copy}" for copy in range(copies)] if copies > 1 else [stream]
            return tuple(f"{sides[row % copies]}_{row // copies}" for row in range(self.rows))
        if passing in APART and copies > 1:
            return tuple(f"{stream}_{copy}" for copy in range(copies))
        return tuple(copy_name(stream, copy) for copy in range(self.copies(stream)))

    def depth(self, stream: str, depth: int, copy: int) -> int:
        """Of a copy of a stream that is so deep. What is loaded ahead waits in that of row 0: of several rows there is
        less to bring in as long a time.
        """
        match self.passing.get(stream):
            case "shared" if copy:
                return min(depth, SHARED_DEPTH)
            case "interleaved":
                return depth * self.each
            case _:
                return depth

    def of_copy(self, program: Program, copy: int) -> Program:
        """What a copy of a task does: the same, in its own streams."""
        return _renamed(program, {name: copy_name(name, copy) for name in self.passing if name not in self.for_each})

    def of_rows(self, task: str, programs: Sequence[Program], copy: int) -> list[Program]:
        """What a task does for rows one after the other, `programs` being what it does for each of them alone; of one
        that is copied, what number `copy` does for its own.
        """
        if task in self.interleaved:
            starts = range(0, len(programs), self.each)
            return [self._in_turns(programs[n], copy, min(self.each, len(programs) - n)) for n in starts]
        if task in self.copied:
            rows = (copy + self.side_by_side * (n % self.each) for n in range(len(programs)))
            own = ({name: copy_name(name, row) for name in self.for_each} for row in rows)
            return [_renamed(one, names) for one, names in zip(programs, own, strict=True)]
        found = (self._of_row(one, row, len(programs)) for row, one in enumerate(programs))
        return [program for program in found if program]

    def _of_row(self, program: Program, row: int, rows: int) -> Program:
        """What a task that is not copied does for a row of so many, `program` being what it does for one."""
        used = {self.passing.get(access.stream) for nest in nests(program) for access in (*nest.reads, *nest.writes)}
        if used.isdisjoint(ONCE):
            own = (name for name, passing in self.passing.items() if passing in APART)
            return _renamed(program, {name: copy_name(name, row % self.copies(name)) for name in own})
        if row % self.rows:
            return ()
        copies = range(min(self.side_by_side, rows - row))

        def to_all(nest: LoopNest) -> LoopNest:
            writes = (
                a._replace(stream=copy_name(a.stream, k))
                for a in nest.writes
                for k in (copies if self.passing.get(a.stream) == "shared" else (0,))
            )
            return replace(nest, writes=tuple(writes))

        return with_nests(program, to_all)

    def in_turns(self, program: Program) -> Program:
        """What a task that is interleaved does, `program` being what it does for one row: so often as the argument
        `SEVERAL` says.
        """
        bound = Argument(SEVERAL, self.each)
        return _looped(program, self.each, lambda access, loop: [self._once(access, loop)], bound)

    def _in_turns(self, program: Program, copy: int, rows: int) -> Program:
        """What a copy does for so many of its rows."""
        return _looped(program, rows, lambda access, loop: self._turns_of(access, loop, copy, rows))

    def _turns_of(self, access: Access, loop: int, copy: int, rows: int) -> Iterator[Access]:
        stream, gates = access
        if stream in self.for_each:
            names = (copy_name(stream, copy + self.side_by_side * turn) for turn in range(rows))
            yield from (Access(name, (*gates, Gate(loop, turn, turn + 1))) for turn, name in enumerate(names))
        else:
            yield self._once(access, loop)

    def _once(self, access: Access, loop: int) -> Access:
        """What is loaded for all rows comes with the first of them."""
        once = self.passing.get(access.stream) in ONCE
        return access._replace(gates=(*access.gates, Gate(loop, 0, 1))) if once else access


def _looped(
    program: Program, rows: int, of: Callable[[Access, int], Iterable[Access]], bound: Argument | None = None
) -> Program:
    """The program with a loop over `rows` inside of all that it does, as often as `bound` says where there is one; `of`
    an access and the loop's number, what stands for the access.
    """

    def each(nest: LoopNest) -> LoopNest:
        loop = len(nest.trips)
        reads, writes = (tuple(one for a in side for one in of(a, loop)) for side in (nest.reads, nest.writes))
        bounds = nest.bounds if bound is None else (*nest.bounds, BoundLoop(loop, bound))
        return replace(nest, trips=(*nest.trips, rows), reads=reads, writes=writes, bounds=bounds)

    return with_nests(program, each)


def _renamed(program: Program, names: Mapping[str, str]) -> Program:
    def renamed(nest: LoopNest) -> LoopNest:
        reads, writes = (
            tuple(a._replace(stream=names.get(a.stream, a.stream)) for a in side) for side in (nest.reads, nest.writes)
        )
        return replace(nest, reads=reads, writes=writes)

    return with_nests(program, renamed)
