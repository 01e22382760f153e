"""Which errors of the database pass by themselves, and which never do."""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError

_SQLITE_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SQLITE_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TRANSIENT = ("08", "40", "53", "57P", "25P03", "55P03")
"""SQLSTATEs, or how they begin: connection, deadlock and serialization, too many connections, shutdown, timeouts."""


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says that the file is not whole, or no database."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_DAMAGED


def is_transient(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed a little later: the connection broke, or the database chose it to end a
    deadlock, was busy, restarted.
    """
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _SQLITE_BUSY
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError)  # the driver has no connection to ask
    return state.startswith(_TRANSIENT)
