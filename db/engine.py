"""Connections and transactions: SQLite (the embedded default) and Postgres behind one class."""

import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.orm import Session

_BUSY_TIMEOUT_MS = 30_000
_AFTER_COMMIT = "after_commit"


class Database:
    """Sessions on one database. Safe to share between threads; not between forked processes.

    `write()` commits when its block ends and rolls back when it raises; whoever opens it owns the transaction, so
    services and repositories never commit.
    """

    def __init__(self, url: str) -> None:
        """`url`: a SQLAlchemy URL, `sqlite:////abs/path.db` or `postgresql+psycopg://...`."""
        self.url = url
        self.engine = make_engine(url)

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that sees one snapshot and is rolled back."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Generator[Session]:
        """A transaction. Callbacks given to `after_commit` run once it is durable."""
        writer = self.engine.execution_options(millrace_write=True)
        with Session(writer, expire_on_commit=False) as session:
            with session.begin():
                yield session
            callbacks: list[Callable[[], None]] = session.info.pop(_AFTER_COMMIT, [])
        for callback in callbacks:
            callback()

    def ping(self) -> None:
        """Raise the driver's error when the database does not answer."""
        with self.engine.connect() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        self.engine.dispose()


def after_commit(session: Session, callback: Callable[[], None]) -> None:
    """Run `callback` after the session's transaction is durable, not at all if it rolls back."""
    session.info.setdefault(_AFTER_COMMIT, []).append(callback)


def make_engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are ours, see _begin_sqlite
    for pragma in (f"busy_timeout={_BUSY_TIMEOUT_MS}", "foreign_keys=ON", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    _write_ahead(connection)


def _write_ahead(connection: Any) -> None:
    # Two connections that open a new database at once both upgrade a read lock for the switch; SQLite answers one of
    # them "locked" at once, without regard to the busy timeout, since waiting would be a deadlock.
    deadline = time.monotonic() + _BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails at once when another wrote in between, whatever the busy
    # timeout; a writer therefore takes the write lock when it begins.
    writes = connection.get_execution_options().get("millrace_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
