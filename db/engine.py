"""Connections and transactions: SQLite (the embedded default) and Postgres behind one class."""

import math
import os
import random
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.orm import Session

from db.damage import DamagedDatabaseError
from db.transient import is_damage, is_transient

T = TypeVar("T")

_BUSY_TIMEOUT_MS = 30_000
CONNECTIONS = 10
"""How many use a database at once as a rule; for a moment twice as many may."""
_KEEP_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""Seconds, and milliseconds, after which a Postgres whose machine went away is given up."""
_LIMITS = {"statement_timeout": "60s", "lock_timeout": "30s", "idle_in_transaction_session_timeout": "300s"}
"""No process may hold up the farm for long: one that was stopped, say, with a licence's row locked."""
_FRESH_SECONDS = 1.0
"""A connection that was used so lately is used again unasked."""
_AFTER_COMMIT = "after_commit"


class Database:
    """Sessions on one database. Safe to share between threads; not between forked processes.

    `write()` commits when its block ends and rolls back when it raises; whoever opens it owns the transaction, so
    services and repositories never commit. A connection that breaks raises OperationalError from the block; the next
    block gets a new one. `retry` does both again.
    """

    def __init__(self, url: str, threads: int = CONNECTIONS) -> None:
        """`url`: a SQLAlchemy URL, `sqlite:////abs/path.db` or `postgresql+psycopg://...`. `threads`: how many use it
        at once as a rule; twice as many sessions may be open, more wait for one to end.
        """
        self.url = url
        self.engine = make_engine(url, threads)
        self.damage: DamagedDatabaseError | None = None
        event.listen(self.engine, "handle_error", self._note_damage)

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that is rolled back. On SQLite it sees one snapshot, on Postgres each statement sees its own."""
        with _Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Generator[Session]:
        """A transaction. Callbacks given to `after_commit` run once it is durable."""
        with self._transaction() as session:
            yield session
        _call_back(session)

    def retry(self, function: Callable[[Session], T], seconds: float = 60.0) -> T:
        """The result of `function` in a transaction of its own, done again for up to `seconds` when the connection
        breaks or the database gives up on it (a restart, a deadlock, a lock that nobody released).

        A commit that breaks may have happened: `function` must be repeatable. It finds out from the database what is
        left to do (a fence, an insert that ignores what is there) and has no other effects; those go to `after_commit`.
        """
        deadline = time.monotonic() + seconds
        for pause in _pauses():
            try:
                with self._transaction() as session:
                    result = function(session)
            except DBAPIError as error:
                if not is_transient(error) or time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
            else:
                _call_back(session)
                return result
        raise AssertionError("unreachable: pauses do not end")

    @contextmanager
    def _transaction(self) -> Generator[Session]:
        writer = self.engine.execution_options(millrace_write=True)
        with _Session(writer, expire_on_commit=False) as session, session.begin():
            yield session

    def _note_damage(self, context: ExceptionContext) -> None:
        """One page that can not be read may be all that is: who asks for the database's health is to know."""
        self.damage = _explain_damage(str(self.engine.url.database), context) or self.damage

    def ping(self) -> None:
        """Raise the driver's error when the database does not answer."""
        with self.engine.connect() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        self.engine.dispose()


class _Session(Session):
    """Keeps what it has read until it ends: the same row is then read once, however many functions ask for it."""


@event.listens_for(_Session, "loaded_as_persistent")
@event.listens_for(_Session, "pending_to_persistent")
def _keep(session: Session, row: Any) -> None:
    session.info.setdefault("rows", []).append(row)


def _call_back(session: Session) -> None:
    callbacks: list[Callable[[], None]] = session.info.pop(_AFTER_COMMIT, [])
    for callback in callbacks:
        callback()


def _pauses() -> Generator[float]:
    """Seconds between attempts: longer each time, and not the same for all who wait for the same database."""
    pause = 0.05
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(2 * pause, 3.0)


def after_commit(session: Session, callback: Callable[[], None]) -> None:
    """Run `callback` after the session's transaction is durable, not at all if it rolls back."""
    session.info.setdefault(_AFTER_COMMIT, []).append(callback)


def make_engine(url: str, threads: int = CONNECTIONS, *, limits: bool = True) -> Engine:
    """Connections that were idle are checked before use, so that those from before a restart of Postgres do no harm.

    `limits`: whether Postgres ends statements that take a minute.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return _postgres_engine(url, threads, limits)
    is_file = bool(parsed.database) and parsed.database != ":memory:"
    kept = {"pool_size": threads, "max_overflow": threads} if is_file else {}
    engine = create_engine(url, hide_parameters=True, **kept)  # parameters may hold secrets, errors are logged
    if is_file:
        event.listen(engine, "do_connect", partial(_make_private, Path(str(parsed.database))))
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", partial(_explain_damage, str(parsed.database)))
    return engine


def _explain_damage(path: str, context: ExceptionContext) -> DamagedDatabaseError | None:
    """What to raise in place of an error that says that the file is not whole."""
    if not is_damage(context.original_exception):
        return None
    return DamagedDatabaseError(path, str(context.original_exception))


def _postgres_engine(url: str, threads: int, limits: bool) -> Engine:
    options: dict[str, Any] = {"connect_timeout": 10, **_KEEP_ALIVE}
    engine = create_engine(
        url, pool_size=threads, max_overflow=threads, connect_args=options, hide_parameters=True
    )  # parameters may hold secrets, errors are logged
    event.listen(engine, "checkout", partial(_check_idle, engine.dialect))
    event.listen(engine, "checkin", _note_idle)
    if limits:
        event.listen(engine, "connect", _limit_postgres)
    return engine


def _note_idle(_connection: Any, record: Any) -> None:
    record.info["idle since"] = time.monotonic()


def _check_idle(dialect: Any, connection: Any, record: Any, _proxy: Any) -> None:
    # As `pool_pre_ping`, which asks before every use: one round trip in ten of a busy farm.
    if time.monotonic() - record.info.get("idle since", -math.inf) < _FRESH_SECONDS:
        return
    try:
        alive = dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error:
        alive = False
    if not alive:
        raise DisconnectionError("the database has closed this connection")


def _limit_postgres(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        for name, value in _LIMITS.items():
            cursor.execute(f"SET {name} = '{value}'")
    connection.commit()


def _make_private(file: Path, *_: Any) -> None:
    """SQLite would make the file for all to read; what it makes beside is as the file is.

    One that is there is not opened: closing it would take the locks of all other connections of this process from the
    file, another process would take itself for the last one, and remove the log of writes that these still use
    (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


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
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # its kinds too, "recovery" among them
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails at once when another wrote in between, whatever the busy
    # timeout; a writer therefore takes the write lock when it begins.
    writes = connection.get_execution_options().get("millrace_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
