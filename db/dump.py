"""The tables as rows of plain JSON values, and back: alike on SQLite and Postgres, so a farm can move between them."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Column, Connection, Engine, Integer, Table, bindparam, exists, func, select, text

from db.models import Base
from db.types import UtcDateTime

_BATCH = 500

Row = Mapping[str, Any]


def table_names() -> list[str]:
    """All tables, each after those that its rows refer to."""
    return [table.name for table in Base.metadata.sorted_tables]


@contextmanager
def snapshot(engine: Engine) -> Generator[Connection]:
    """A connection that sees all tables as they were at one moment, whatever is written meanwhile."""
    options = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    with engine.connect().execution_options(**options) as connection:
        yield connection


def rows(connection: Connection, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table, oldest first; times are ISO 8601 text."""
    table = Base.metadata.tables[name]
    query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=_BATCH)
    for row in connection.execute(query).mappings():
        yield {column.name: _plain(row[column.name]) for column in table.columns}


def is_empty(connection: Connection) -> bool:
    """Whether no table has a row."""
    return not any(connection.scalar(select(exists(select(t)))) for t in Base.metadata.sorted_tables)


def clear(connection: Connection) -> None:
    """Delete every row of every table."""
    if connection.dialect.name == "postgresql":  # at once: rows that others refer to are slow to delete
        names = ", ".join(table.name for table in Base.metadata.sorted_tables)
        connection.execute(text(f"TRUNCATE {names}"))
        return
    for table in reversed(Base.metadata.sorted_tables):
        for column in _own_references(table):
            connection.execute(table.update().values({column: None}))
        connection.execute(table.delete())


def load(connection: Connection, name: str, found: Iterable[Row]) -> int:
    """Insert rows of `rows` into a table without any; how many. Its rows may refer to each other in any order."""
    table = Base.metadata.tables[name]
    own = _own_references(table)
    references: list[Row] = []
    count = 0
    for batch in _batches(found):
        typed = [_typed(table, row) for row in batch]
        references += [row for row in typed if any(row[column.name] is not None for column in own)]
        connection.execute(table.insert(), [{**row, **{column.name: None for column in own}} for row in typed])
        count += len(batch)
    _refer(connection, table, own, references)
    _continue_ids(connection, table)
    return count


def _own_references(table: Table) -> list[Column[Any]]:
    """Columns that refer to rows of the same table; they are set once all rows are there."""
    return [key.parent for key in table.foreign_keys if key.column.table is table]


def _refer(connection: Connection, table: Table, own: list[Column[Any]], found: list[Row]) -> None:
    if not found:
        return
    keys = list(table.primary_key.columns)
    update = table.update().values({column: bindparam(f"to_{column.name}") for column in own})
    for key in keys:
        update = update.where(key == bindparam(f"of_{key.name}"))
    to = [({f"of_{k.name}": row[k.name] for k in keys} | {f"to_{c.name}": row[c.name] for c in own}) for row in found]
    connection.execute(update, to)


def _continue_ids(connection: Connection, table: Table) -> None:
    """Rows that are added later count on; SQLite does so by itself."""
    keys = list(table.primary_key.columns)
    if connection.dialect.name != "postgresql" or len(keys) != 1 or not isinstance(keys[0].type, Integer):
        return
    newest = connection.scalar(select(func.coalesce(func.max(keys[0]), 0)))
    sequence = text("SELECT setval(pg_get_serial_sequence(:table, :column), :next, false)")
    connection.execute(sequence, {"table": table.name, "column": keys[0].name, "next": (newest or 0) + 1})


def _batches(found: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(found)
    while batch := list(islice(left, _BATCH)):
        yield batch


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _typed(table: Table, row: Row) -> dict[str, Any]:
    return {column.name: _value(column, row[column.name]) for column in table.columns}


def _value(column: Column[Any], value: Any) -> Any:
    if value is None or not isinstance(column.type, UtcDateTime):
        return value
    return datetime.fromisoformat(value)
