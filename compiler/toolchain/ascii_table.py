"""Tables as Vitis and Vivado draw them: `+---+` borders, `|` between cells, a header of one to four lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from compiler.toolchain.source import Source


@dataclass(frozen=True, slots=True)
class Table:
    """`line` is the index of its first border in the source, `end` that after its last.

    `columns` are the header's words from top to bottom joined by a space: "Latency (cycles)" over "min" and "max" gives
    "Latency (cycles) min" and "Latency (cycles) max"; all "" where there is no header. `groups` are the rows between
    two borders; cells keep their leading spaces, which tell a hierarchy, and lose their trailing ones.
    """

    line: int
    end: int
    columns: tuple[str, ...]
    groups: tuple[tuple[tuple[str, ...], ...], ...]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        return tuple(row for group in self.groups for row in group)

    def records(self) -> tuple[dict[str, str], ...]:
        """Rows as column -> stripped cell; of two columns with one name the first counts."""
        return tuple(self.record(row) for row in self.rows)

    def record(self, row: tuple[str, ...]) -> dict[str, str]:
        return {name: cell.strip() for name, cell in zip(reversed(self.columns), reversed(row), strict=True)}


def tables(source: Source, start: int = 0, stop: int | None = None) -> Iterator[Table]:
    """Every table that begins in lines [start, stop), in order; all with a header."""
    at = start
    stop = len(source.lines) if stop is None else stop
    while at < stop:
        if not is_border(source.lines[at]):
            at += 1
            continue
        table = read_table(source, at)
        yield table
        at = table.end


def is_border(line: str) -> bool:
    """Whether `line` is a whole border: `+---+---+`."""
    line = line.strip()
    return line.startswith("+-") and line.endswith("-+") and not line.strip("+-")


def read_table(source: Source, at: int, *, header: bool = True) -> Table:
    """The table whose first border is line `at`. Raises ReportError where it ends before its last border."""
    end = at
    while end < len(source.lines) and source.lines[end].strip().startswith(("|", "+")):
        end += 1
    lines = [line.strip() for line in source.lines[at:end]]
    borders = [i for i, line in enumerate(lines) if is_border(line)]
    if len(borders) < 2 or borders[-1] != len(lines) - 1 or len(lines[-1]) != len(lines[0]):
        raise source.truncated(f"the table at line {at + 1} has no end")
    edges = _edges(lines[: borders[1]] if header else lines[:1])
    groups = [lines[a + 1 : b] for a, b in pairwise(borders[1:] if header else borders)]
    cells = tuple(tuple(_cells(source, at, line, len(edges) - 1) for line in group) for group in groups)
    return Table(at, end, _columns(lines[1 : borders[1]] if header else [], edges), cells)


def require(source: Source, table: Table, *columns: str) -> None:
    """Raise ReportError unless `table` has all of `columns`."""
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise source.truncated(f"the table at line {table.line + 1} has no column {missing[0]!r}")


def _edges(head: list[str]) -> list[int]:
    """Where columns begin and end: of the head's line with the most columns (a border may be coarser than a row)."""
    marks = [[i for i, mark in enumerate(line) if mark == line[0]] for line in head]
    return max(marks, key=len)


def _columns(header: list[str], edges: list[int]) -> tuple[str, ...]:
    """Names of the columns between `edges`; a header cell that spans several names them all."""
    names: list[list[str]] = [[] for _ in edges[1:]]
    for line in header:
        marks = [k for k, i in enumerate(edges) if line[i : i + 1] in {"|", "+"}]
        for left, right in pairwise(marks):
            word = line[edges[left] + 1 : edges[right]].strip(" -")
            for column in range(left, right):
                names[column].append(word)
    return tuple(" ".join(word for word in words if word) for words in names)


def _cells(source: Source, at: int, line: str, columns: int) -> tuple[str, ...]:
    cells = line.removeprefix("|").removesuffix("|").split("|")
    if len(cells) != columns or not (line.startswith("|") and line.endswith("|")):
        raise source.truncated(f"a row of the table at line {at + 1} has {len(cells)} cells instead of {columns}")
    return tuple(cell.rstrip() for cell in cells)
