"""What db.dump promises, on a database that a subclass gives as `database`: empty, at the newest revision."""

from collections.abc import Mapping
from typing import Any

from every_table import ROWS, every_row, fill_every_table
from sqlalchemy import insert, select

from db import dump
from db.engine import Database
from db.models import AuditEntry

Dumped = Mapping[str, list[dict[str, Any]]]


def dumped(database: Database) -> Dumped:
    with dump.snapshot(database.engine) as connection:
        return {name: list(dump.rows(connection, name)) for name in dump.table_names()}


def fill(database: Database, salt: str = "") -> None:
    with database.write() as session:
        fill_every_table(session.connection(), salt)


def stored(database: Database) -> dict[str, list[Any]]:
    with database.read() as session:
        return every_row(session.connection())


def load(database: Database, found: Dumped) -> None:
    with database.write() as session:
        for name in dump.table_names():
            dump.load(session.connection(), name, found[name])


class DumpContract:
    """Run on SQLite and on Postgres."""

    def test_every_table_comes_back_as_it_was(self, database: Database) -> None:
        fill(database)
        before, found = stored(database), dumped(database)
        assert {len(rows) for rows in found.values()} == {ROWS}
        with database.write() as session:
            dump.clear(session.connection())
            assert dump.is_empty(session.connection())
        load(database, found)
        assert stored(database) == before

    def test_rows_that_are_added_later_count_on(self, database: Database) -> None:
        fill(database)
        found = dumped(database)
        with database.write() as session:
            dump.clear(session.connection())
        load(database, found)
        with database.write() as session:
            session.execute(insert(AuditEntry).values(address="", action="a", detail={}))
            assert list(session.scalars(select(AuditEntry.id).order_by(AuditEntry.id)))[-1] == ROWS + 1

    def test_a_snapshot_does_not_see_what_is_written_meanwhile(self, database: Database) -> None:
        with dump.snapshot(database.engine) as connection:
            assert dump.is_empty(connection)
            fill(database)
            assert dump.is_empty(connection)
            assert all(not list(dump.rows(connection, name)) for name in dump.table_names())
        assert {len(rows) for rows in dumped(database).values()} == {ROWS}
