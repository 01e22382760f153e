"""The binary table behind Vivado's utilisation view (`*.xutil`, `*.pb`): length-prefixed protocol-buffer messages.

u32 length | table { columns 100 {...}, rows 200 { cells 200 { text 1000 | used 600, available 1100 }, rows 300 } }

Field numbers were read off real files beside their text twins; Vivado publishes no schema.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.toolchain.source import Source

DEEPEST = 20
_VARINT, _BYTES = 0, 2
_TABLE, _BODY, _COLUMNS, _ROWS, _CELLS, _INNER_ROWS = 100, 300, 100, 200, 200, 300
_CELL_VALUE, _TEXT, _USED, _COLUMN_NAME = 200, 1000, 600, 400

Field = tuple[int, int | bytes]


@dataclass(frozen=True, slots=True)
class XutilRow:
    """`level` is 0 at the left, 1 for what stands below such a row; `cells` follow the columns, numbers as used."""

    level: int
    cells: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class XutilTable:
    columns: tuple[str, ...]
    rows: tuple[XutilRow, ...]


class _MalformedError(Exception):
    """Bytes that are no message."""


def is_xutil(source: Source) -> bool:
    """Whether the first four bytes are the length of the rest and a table follows."""
    head = int.from_bytes(source.raw[:4], "little")
    return len(source.raw) > 8 and b"Hierarchical Table" in source.raw and 0 < head < 1 << 31 and source.raw[5] == 6


def read_xutil(source: Source) -> XutilTable:
    """Raises ReportError where a length does not fit: the file is cut or no such table."""
    body = source.raw[4:]
    if len(body) != int.from_bytes(source.raw[:4], "little"):
        raise source.truncated(f"it announces {int.from_bytes(source.raw[:4], 'little')} bytes and has {len(body)}")
    try:
        table = _one(_one(body, _TABLE), _BODY)
        columns = tuple(_text(_one(column, _COLUMN_NAME)) for column in _all(_one(table, _COLUMNS), _COLUMNS))
        return XutilTable(columns, tuple(_rows(table, _ROWS, 0)))
    except _MalformedError:
        raise source.truncated("the binary table has a field that does not fit") from None


def _rows(message: bytes, field: int, level: int) -> Iterator[XutilRow]:
    if level > DEEPEST:
        raise _MalformedError
    for row in _all(message, field):
        yield XutilRow(level, tuple(_cell(_one(cell, _CELL_VALUE)) for cell in _all(row, _CELLS)))
        yield from _rows(row, _INNER_ROWS, level + 1)


def _cell(message: bytes) -> str | int:
    values = dict(_fields(message))
    value = values.get(_TEXT, values.get(_USED))
    if value is None:
        raise _MalformedError
    return _text(value) if isinstance(value, bytes) else value


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="replace")


def _all(message: bytes, field: int) -> list[bytes]:
    return [value for number, value in _fields(message) if number == field and isinstance(value, bytes)]


def _one(message: bytes, field: int) -> bytes:
    found = _all(message, field)
    if len(found) != 1:
        raise _MalformedError
    return found[0]


def _fields(message: bytes) -> Iterator[Field]:
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at)
        if tag & 7 == _VARINT:
            yield tag >> 3, value
            continue
        if tag & 7 != _BYTES or at + value > len(message):
            raise _MalformedError
        yield tag >> 3, message[at : at + value]
        at += value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, seven bits a byte, and where it ends."""
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise _MalformedError
