"""The dataflow graph of a design: tasks and the streams between them, as tables and as a picture."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from typing import TYPE_CHECKING

from millrace.drawing import Arrow, Box, graph_svg
from millrace.encoding import UnreadableError, parse, read
from millrace.errors import OtherVersionError
from millrace.extras import data_frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Task:
    """A dataflow process. `trips` iterations, one started every `ii` cycles."""

    name: str
    kind: str
    kernel: int
    op: str | None
    trips: int
    ii: int
    depth: int


@dataclass(frozen=True)
class Stream:
    """A FIFO of `depth` tokens of `width` bits between two tasks, through which `tokens` pass; `kind` is its memory."""

    name: str
    source: str
    target: str
    itensor: str
    tokens: int
    width: int
    depth: int
    kind: str | None


@dataclass(frozen=True)
class _Timing:
    trips: list[int]
    ii: int
    depth: int


@dataclass(frozen=True)
class _Task:
    name: str
    kind: str
    kernel: int
    op: str | None
    timing: _Timing


@dataclass(frozen=True)
class _Dataflow:
    tasks: list[_Task]
    streams: list[Stream]


@dataclass(frozen=True)
class Graph:
    """Tasks in topological order, and the streams between them. A notebook shows it as a picture."""

    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]

    def tasks_df(self) -> pandas.DataFrame:
        """Raises MissingExtraError without pandas."""
        return _frame(Task, self.tasks)

    def streams_df(self) -> pandas.DataFrame:
        """Raises MissingExtraError without pandas."""
        return _frame(Stream, self.streams)

    def svg(self) -> str:
        """The picture, as the text of an SVG file."""
        boxes = [
            Box(t.name, t.kind, t.kernel, f"{t.name}\n{t.kind}, kernel {t.kernel}, {t.trips} x II {t.ii}")
            for t in self.tasks
        ]
        arrows = [
            Arrow(s.source, s.target, s.width, f"{s.source} to {s.target}\n{s.name}: {_facts(s)}") for s in self.streams
        ]
        return graph_svg(boxes, arrows)

    def _repr_html_(self) -> str:
        return f"<p>{len(self.tasks)} tasks, {len(self.streams)} streams</p>{self.svg()}"


def read_graph(dataflow: bytes) -> Graph:
    """The graph in a dataflow.json. Raises OtherVersionError for a file that is none."""
    try:
        found = read(_Dataflow, parse(dataflow))
    except UnreadableError as error:
        raise OtherVersionError(f"dataflow.json is of another version than this client ({error})") from error
    tasks = tuple(
        Task(t.name, t.kind, t.kernel, t.op, prod(t.timing.trips), t.timing.ii, t.timing.depth) for t in found.tasks
    )
    return Graph(tasks, tuple(found.streams))


def _facts(stream: Stream) -> str:
    return f"{stream.tokens} tokens of {stream.width} bits, depth {stream.depth}"


def _frame(kind: type[Task | Stream], rows: tuple[Task | Stream, ...]) -> pandas.DataFrame:
    return data_frame({field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)})
