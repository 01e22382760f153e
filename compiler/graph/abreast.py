"""Rows of a chunk that are computed side by side: by copies of the tasks that are busy longest, a row each.

Copy k of n gets the rows k, k + n, ... of a chunk, and a stream between two of these tasks is there as often. In front
of them the tokens of each row go to the stream of its copy (*dealt*), behind them they come from there, one row after
the other (*collected*). What a load brings them is the same for all rows: it is read once for those side by side
(*grouped*), and written to the streams of all of them (*shared*). A token that is in no chunk is a row 0: other copies
rest.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

from compiler.graph.program import LoopNest, Program, nests, with_nests

Passing = Literal["within", "dealt", "collected", "shared", "grouped"]
SHARED_DEPTH = 16  # of what is loaded for several rows, for those but the first
ONCE: tuple[Passing, ...] = ("shared", "grouped")  # for the rows side by side
APART: tuple[Passing, ...] = ("dealt", "collected")  # whose one end has a stream for each of them


class Stream(Protocol):
    """A FIFO from one task to another."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


def copy_name(name: str, copy: int) -> str:
    """What copy number `copy` of a task or a stream is called."""
    return f"{name}_row{copy}" if copy else name


def is_carrier(kind: str, reads: int, writes: int) -> bool:
    """Whether a task of the kind passes on what it reads from one stream: a relay, or what deals out the lanes."""
    return reads == 1 and (kind == "lanes" or (kind == "route" and writes == 1))


class Abreast(NamedTuple):
    """So many rows side by side: the tasks that have copies, and how rows pass streams, by name."""

    rows: int
    copied: frozenset[str]
    passing: Mapping[str, Passing]

    @staticmethod
    def of(
        rows: int,
        streams: Iterable[Stream],
        copied: Collection[str],
        loads: Collection[str],
        carriers: Collection[str],
    ) -> "Abreast":
        """Of tasks that are `copied` in a design with these streams, loads, and carriers, which pass on what they read
        from one stream: a carrier behind one of them is there as often, one behind a load passes tokens once.
        """
        into, out_of, known = dict[str, Stream](), dict[str, Stream](), tuple(streams)
        relays = frozenset(carriers) - frozenset(copied)
        for stream in known:
            if stream.target in relays:
                into[stream.target] = stream
            if stream.source in relays:
                out_of[stream.source] = stream
        found, carrying = dict[str, Passing](), set[str]()
        for stream in known:
            first, last = stream, stream
            while first.source in relays:
                first = into[first.source]
            while last.target in relays:
                last = out_of[last.target]
            if first.source in copied and last.target in copied:
                found[stream.name] = "within"
                carrying |= {end for end in (stream.source, stream.target) if end in relays}
            elif first.source in loads and last.target in copied:
                found[stream.name] = "shared" if stream.target in copied else "grouped"
            elif stream.target in copied:
                found[stream.name] = "dealt"
            elif first.source in copied:
                found[stream.name] = "within" if stream.target in relays else "collected"
                carrying |= {stream.target} & relays
        return Abreast(rows, frozenset(copied) | carrying, found)

    def started(self, go: Callable[[str], str]) -> "Abreast":
        """With the streams by which each copy is told to begin, called so after its task."""
        words: dict[str, Passing] = {go(task): "dealt" for task in self.copied}
        return self._replace(passing={**self.passing, **words})

    def is_there_often(self, stream: str) -> bool:
        """Whether the stream has copies."""
        return self.passing.get(stream, "grouped") != "grouped"

    def copies(self, name: str) -> int:
        """How often the task, or the stream, is there."""
        return self.rows if name in self.copied or self.is_there_often(name) else 1

    def fifos(self, stream: str) -> tuple[str, ...]:
        """What the FIFOs of the stream are called in hardware."""
        if self.passing.get(stream) in APART:
            return tuple(f"{stream}_{copy}" for copy in range(self.rows))
        return tuple(copy_name(stream, copy) for copy in range(self.copies(stream)))

    def depth(self, stream: str, depth: int, copy: int) -> int:
        """Of a copy of a stream that is so deep. What is loaded ahead waits in that of row 0: of several rows there is
        less to bring in as long a time.
        """
        return min(depth, SHARED_DEPTH) if copy and self.passing.get(stream) == "shared" else depth

    def of_copy(self, program: Program, copy: int) -> Program:
        """What a copy of a task does: the same, in its own streams."""
        return _renamed(program, {name: copy_name(name, copy) for name in self.passing})

    def of_row(self, program: Program, row: int, rows: int) -> Program:
        """What a task that is not copied does for a row of so many, `program` being what it does for one."""
        used = {self.passing.get(access.stream) for nest in nests(program) for access in (*nest.reads, *nest.writes)}
        if used.isdisjoint(ONCE):
            own = (name for name, passing in self.passing.items() if passing in APART)
            return _renamed(program, {name: copy_name(name, row % self.rows) for name in own})
        if row % self.rows:
            return ()
        copies = range(min(self.rows, rows - row))

        def to_all(nest: LoopNest) -> LoopNest:
            writes = (
                a._replace(stream=copy_name(a.stream, k))
                for a in nest.writes
                for k in (copies if self.passing.get(a.stream) == "shared" else (0,))
            )
            return replace(nest, writes=tuple(writes))

        return with_nests(program, to_all)


def _renamed(program: Program, names: Mapping[str, str]) -> Program:
    def renamed(nest: LoopNest) -> LoopNest:
        reads, writes = (
            tuple(a._replace(stream=names.get(a.stream, a.stream)) for a in side) for side in (nest.reads, nest.writes)
        )
        return replace(nest, reads=reads, writes=writes)

    return with_nests(program, renamed)
