"""Rows for every table of the schema, without knowing what they mean: what a backup has to bring back as it was."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Connection, Double, Integer, Table, select

from db.models import Base
from db.types import UtcDateTime

ROWS = 7
_TEXTS = ("", "plain", "Ümläute, 漢字 \U0001f680", 'quotes " and \\ and \n lines', "x" * 5_000)


def fill_every_table(connection: Connection, salt: str = "") -> None:
    """Insert ROWS rows into each table; rows refer to others, also to later ones of the same table."""
    for table in Base.metadata.sorted_tables:
        connection.execute(table.insert(), [_row(table, number, salt) for number in range(ROWS)])
    for table, column in _own_references():
        key = next(iter(table.primary_key.columns))
        for number in range(ROWS - 1):
            later = _value(table, key, number + 1, salt)
            update = table.update().where(key == _value(table, key, number, salt)).values({column: later})
            connection.execute(update)


def every_row(connection: Connection) -> dict[str, list[Any]]:
    """All rows of all tables, in a fixed order."""
    tables = Base.metadata.sorted_tables
    return {t.name: [tuple(r) for r in connection.execute(select(t).order_by(*t.primary_key.columns))] for t in tables}


def digest_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _own_references() -> Iterator[tuple[Table, Column[Any]]]:
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column.table is table:
                yield table, key.parent


def _row(table: Table, number: int, salt: str) -> dict[str, Any]:
    return {column.name: _value(table, column, number, salt) for column in table.columns}


def _value(table: Table, column: Column[Any], number: int, salt: str) -> Any:
    for key in column.foreign_keys:
        if key.column.table is table:
            return None
        return _value(key.column.table, key.column, number, salt)
    if column.nullable and number % 3 == 2:
        return None
    return _plain(table, column, number, salt)


def _plain(table: Table, column: Column[Any], number: int, salt: str) -> Any:
    kind = column.type
    if isinstance(kind, Boolean):
        return number % 2 == 0
    if isinstance(kind, Integer):
        return number + 1
    if isinstance(kind, Double):
        return (0.1 + number) * 10.0 ** (number * 20 - 60)
    if isinstance(kind, UtcDateTime):
        return datetime(2026, 1, 31, 23, 59, 59, 123456, UTC) + timedelta(microseconds=number)
    if isinstance(kind, JSON):
        return {"n": number, "none": None, "list": [1.5, "a", True], "digest": digest_of(table.name, number)}
    length = getattr(kind, "length", None)
    if length == 64:
        return digest_of(table.name, column.name, number, salt)
    unique = f"{table.name}-{column.name}-{salt}{number}"
    return unique[-length:] if length else _TEXTS[number % len(_TEXTS)] + unique
