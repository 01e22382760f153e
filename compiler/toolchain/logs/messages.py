"""Messages of a tool's log: `ERROR: [VPL UTLZ-1] Resource utilization: ...`, with the lines that belong to them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.toolchain.source import Source

_MESSAGE = re.compile(r"\s*(INFO|WARNING|CRITICAL WARNING|ADVISORY|ERROR|FATAL(?:_ERROR)?): \[([^\]]{1,40})\] ?(.*)")
_BAD = frozenset({"ERROR", "FATAL", "FATAL_ERROR"})
MOST_MORE = 8  # lines after a message that may belong to it
LONGEST = 2000  # characters of a line; what follows lists nets


@dataclass(frozen=True, slots=True)
class Message:
    """`line` counts from 0; `code` is "VPL UTLZ-1"; `more` are the lines up to the next message, without blank ones."""

    line: int
    severity: str
    code: str
    text: str
    more: tuple[str, ...]

    @property
    def bad(self) -> bool:
        return self.severity in _BAD

    @property
    def whole(self) -> str:
        return " ".join((self.text, *self.more))


def messages(source: Source) -> Iterator[Message]:
    """Every message, in order."""
    lines = source.lines
    for at, line in enumerate(lines):
        if match := _MESSAGE.match(line):
            yield Message(at, match[1], match[2], match[3].strip()[:LONGEST], tuple(_more(lines, at + 1)))


def is_message(line: str) -> bool:
    return bool(_MESSAGE.match(line))


def _more(lines: list[str], at: int) -> Iterator[str]:
    for line in lines[at : at + MOST_MORE]:
        if _MESSAGE.match(line) or line.startswith("["):
            return
        if line.strip():
            yield line.strip()[:LONGEST]
