"""Sections of XRT's `summary.csv`, in both of its forms.

Compute Unit Utilization                TITLE:Native API Calls
Device,Compute Unit,Kernel,             SECTION:API Calls,Native API Calls
board-0,gemm_1,gemm,                    COLUMN:<html>API Name</html>,string,Name of the function,
                                        ENTRY:xrt::run::start,101,
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.toolchain.source import Source

_TAGS = re.compile(r"<br>|</?html>")


@dataclass(frozen=True, slots=True)
class Section:
    """`rows` may have fewer cells than `columns` where the tool leaves empty ones at the end away."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def records(self) -> Iterator[dict[str, str]]:
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=False))


def sections(source: Source) -> dict[str, Section]:
    """Title -> section. Blocks of lines that a blank line ends; the first block is the head of the file."""
    found: dict[str, Section] = {}
    for block in _blocks(source.lines):
        if len(block) > 1:
            section = _titled(block) if block[0].startswith("TITLE:") else _plain(block)
            found[section.title] = section
    return found


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _plain(block: list[str]) -> Section:
    title, *rows = block
    columns, *cells = (_cells(row) for row in rows)
    return Section(title.strip(), columns, tuple(cells))


def _titled(block: list[str]) -> Section:
    heads = [_cells(line.removeprefix("COLUMN:")) for line in block if line.startswith("COLUMN:")]
    rows = tuple(_cells(line.removeprefix("ENTRY:")) for line in block if line.startswith("ENTRY:"))
    columns = tuple(" ".join(_TAGS.sub(" ", head[0]).split()) if head else "" for head in heads)
    return Section(block[0].removeprefix("TITLE:").strip(), columns, rows)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.removesuffix(",").split(","))
