"""`xbutil examine` and `xbmgmt examine` as text: electrical, thermal and platform sections of one or more boards.

[0000:3b:00.1] : xilinx_u55c_gen3x16_xdma_base_3
-------------------------------------------------
Electrical
  Power                  : 16.035208 Watts
  12 Volts PCI Express   : 12.254 V,  1.308 A
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from compiler.toolchain.board.sensors import BoardReading, Examine, Rail, Temperature, warnings
from compiler.toolchain.numbers import damaged
from compiler.toolchain.report import Failure
from compiler.toolchain.source import Source

_BOARD = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)\] : (\S+)\s*$")
_INDENT = "  "
_RAIL = re.compile(r"(\d+\.\d+) V(?:[, ] *(\d+\.\d+) A)?")
_CELSIUS = re.compile(r"(-?\d+) C")
_WATTS = re.compile(r"(\d+(?:\.\d+)?) ?W(?:atts)?")
_HEADINGS = frozenset({"Power Rails", "Temperature"})
_TABLES = ("Electrical", "Thermals")


def is_xbutil_text(source: Source) -> bool:
    return any(_BOARD.match(line) for line in source.lines[:40])


def parse_xbutil_text(source: Source) -> Examine:
    """Raises ReportError for another file and for one that ends within a line or before anything of a board."""
    if not is_xbutil_text(source):
        raise source.foreign("a report of a board", "the output of xbutil examine or xbmgmt examine")
    if not source.text.endswith("\n"):
        raise source.truncated("its last line has no end")
    boards = tuple(_boards(source))
    if any(not (b.rails or b.temperatures or b.facts or b.power_w is not None) for b in boards):
        raise source.truncated("a board has no readings")
    return Examine(boards, "", _unread(source) + warnings(boards))


def _unread(source: Source) -> tuple[Failure, ...]:
    """Devices that xbutil could not open."""
    return tuple(
        Failure("device", line.strip(), "", "reset the board with xbutil reset, or load its shell again")
        for line in source.lines
        if line.startswith("ERROR:")
    )


def _boards(source: Source) -> Iterator[BoardReading]:
    starts = [i for i, line in enumerate(source.lines) if _BOARD.match(line)]
    for start, stop in pairwise([*starts, len(source.lines)]):
        yield _board(source, source.lines[start:stop])


def _board(source: Source, lines: list[str]) -> BoardReading:
    head = _BOARD.match(lines[0])
    fields = [(section, name, value) for section, name, value in _fields(lines[1:]) if name not in _HEADINGS]
    tables = {name: value for section, name, value in fields if section in _TABLES}
    facts = {f"{section}: {name}": value for section, name, value in fields if section not in _TABLES and value}
    power = {name: tables.pop(name, "") for name in ("Max Power", "Power", "Power Warning")}
    limit = power["Max Power"] or facts.get("Device properties: Max Power", "")
    return BoardReading(
        head[1] if head else "",
        head[2] if head else "",
        _watts(source, power["Power"], "Power"),
        _watts(source, limit, "Max Power"),
        {"true": True, "false": False}.get(power["Power Warning"].lower()),
        tuple(rail for name, value in tables.items() if (rail := _rail(name, value))),
        tuple(_temperatures(source, tables)),
        facts,
    )


def _fields(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Section, name and value of every line `  name : value`."""
    section = ""
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.startswith(_INDENT) and name[2:3].strip():
            yield section, name.strip(), value.strip()
        elif line.strip() and not line.startswith((" ", "-")):
            section = line.strip()


def _watts(source: Source, text: str, what: str) -> float | None:
    if not text or text == "N/A":
        return None
    match = _WATTS.fullmatch(text)
    if not match:
        raise damaged(source, text, what, "a number of watts")
    return float(match[1])


def _rail(name: str, value: str) -> Rail | None:
    match = _RAIL.fullmatch(value)
    return Rail("", name, float(match[1]), float(match[2]) if match[2] else None) if match else None


def _temperatures(source: Source, tables: dict[str, str]) -> Iterator[Temperature]:
    for name, value in tables.items():
        match = _CELSIUS.fullmatch(value)
        if match:
            yield Temperature("", name, float(match[1]))
        elif not _RAIL.fullmatch(value) and value != "N/A":
            raise damaged(source, value, name, "volts and amperes, or degrees")
