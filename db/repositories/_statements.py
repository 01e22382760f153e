"""Statements that SQLAlchemy spells differently per database."""

from typing import Any

from sqlalchemy import CursorResult
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.models import Base


def insert_or_ignore(session: Session, table: type[Base], values: dict[str, Any]) -> bool:
    """Insert one row unless a unique constraint holds against it; True when it was inserted.

    On Postgres this waits for a concurrent insert of the same row to commit or roll back.
    """
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(table).values(**values).on_conflict_do_nothing()
    # Asked for: where nothing is returned, psycopg's cursor is closed before anybody looks at its count.
    result = session.execute(statement, execution_options={"preserve_rowcount": True})
    return rowcount(result) > 0


def rowcount(result: Any) -> int:
    """Rows that an UPDATE, INSERT or DELETE touched."""
    assert isinstance(result, CursorResult)
    return result.rowcount
