"""Text reports of C synthesis: their sections, the values of their head, the items of a section."""

import re
from dataclasses import dataclass
from itertools import pairwise

from compiler.toolchain.ascii_table import Table, is_border, read_table
from compiler.toolchain.source import Source

_HEAD_LINES = 40


@dataclass(frozen=True, slots=True)
class Section:
    """Lines [start, stop) below the title `== name`."""

    name: str
    start: int
    stop: int


def sections(source: Source) -> dict[str, Section]:
    """By title, without the `==` before it."""
    titles = [i for i, line in enumerate(source.lines) if line.startswith("== ")]
    spans = pairwise([*titles, len(source.lines)])
    found = (Section(source.lines[i][3:].strip(), i + 1, stop) for i, stop in spans)
    return {section.name: section for section in found}


def section(source: Source, *names: str) -> Section:
    """The section that has one of `names`. Raises ReportError where there is none: the report ends before it."""
    found = sections(source)
    for name in names:
        if name in found:
            return found[name]
    raise source.truncated(f"the section {names[0]!r} is missing")


def head_value(source: Source, name: str) -> str:
    """`* Version:  2023.2 ...` in the head of the report. Raises ReportError where it is missing."""
    pattern = re.compile(rf"\s*\* {re.escape(name)}:\s*(\S.*)")
    for line in source.lines[:_HEAD_LINES]:
        if match := pattern.fullmatch(line):
            return match.group(1).strip()
    raise source.truncated(f"its head has no {name!r}")


def version(source: Source) -> str:
    """`2023.2` of "2023.2 (Build 4023990 on Oct 11 2023)"; a head that is cut in the build does not count."""
    match = re.fullmatch(r"(\d{4}\.\d+\S*) \(Build .*\)", head_value(source, "Version"))
    if match is None:
        raise source.truncated("its head has no version")
    return match.group(1)


def flow(source: Source) -> str:
    """The solution's target as csynth.xml spells it: "vitis", "vivado" or ""."""
    match = re.search(r"\((\w+).* Flow Target\)", head_value(source, "Solution"))
    return match.group(1).lower() if match else ""


def item(source: Source, where: Section, title: str, after: int | None = None) -> Table | None:
    """The table of `* title:` in a section, from line `after` on; None where the report says N/A.

    Raises ReportError where the item is missing or has neither.
    """
    for at in range(where.start if after is None else after, where.stop):
        if source.lines[at].strip() == f"* {title}:":
            return _table_below(source, at, where, title)
    raise source.truncated(f"{title!r} of {where.name!r} is missing")


def first_table(source: Source, where: Section) -> Table:
    """The first table of a section. Raises ReportError where it has none."""
    for at in range(where.start, where.stop):
        if is_border(source.lines[at]):
            return read_table(source, at)
    raise source.truncated(f"{where.name!r} has no table")


def _table_below(source: Source, at: int, where: Section, title: str) -> Table | None:
    for line in range(at + 1, where.stop):
        text = source.lines[line].strip()
        if text == "N/A":
            return None
        if is_border(text):
            return read_table(source, line)
        if text:
            break
    raise source.truncated(f"{title!r} of {where.name!r} has no table")
