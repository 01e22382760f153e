"""Numbers as the tools write them: `?`, `-`, `NA`, `undef` and an empty cell stand for "not known", never for 0."""

import math

from compiler.errors import ReportError
from compiler.toolchain.source import Source

UNKNOWN = frozenset({"", "-", "?", "NA", "N/A", "undef"})


def number(source: Source, text: str, what: str) -> float | None:
    """A finite number, None when the tool did not know. Raises ReportError naming `what` for anything else."""
    text = text.strip()
    if text in UNKNOWN:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise damaged(source, text, what, "a number")
    return value


def known(source: Source, text: str, what: str) -> float:
    """A finite number that the tool must know. Raises ReportError naming `what`."""
    value = number(source, text, what)
    if value is None:
        raise damaged(source, text, what, "a number")
    return value


def integer(source: Source, text: str, what: str) -> int | None:
    """A whole number (negative ones too), None when the tool did not know."""
    text = text.strip()
    if text in UNKNOWN:
        return None
    if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20):
        raise damaged(source, text, what, "a whole number")
    return int(text)


def damaged(source: Source, text: str, what: str, expected: str) -> ReportError:
    return source.truncated(f"{what} is {text[:40]!r}, not {expected}")
