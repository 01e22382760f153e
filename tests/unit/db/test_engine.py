import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from db.engine import Database, _write_ahead, after_commit
from db.transient import is_transient


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path}/deep/er/a.db")
    with made.write() as session:
        session.execute(text("CREATE TABLE t (x INTEGER PRIMARY KEY, y INTEGER REFERENCES t(x))"))
    return made


def test_sqlite_is_configured(database: Database) -> None:
    with database.read() as session:
        values = {p: session.execute(text(f"PRAGMA {p}")).scalar() for p in ("journal_mode", "foreign_keys")}
        assert values == {"journal_mode": "wal", "foreign_keys": 1}
        assert session.execute(text("PRAGMA synchronous")).scalar() == 1
        assert session.execute(text("PRAGMA busy_timeout")).scalar() == 30_000


_ANOTHER = """
import sys
from sqlalchemy import text
from db.engine import Database
database = Database(sys.argv[1])
with database.read() as session:
    print(session.scalar(text("SELECT number FROM t")))
with database.write() as session:
    session.execute(text("UPDATE t SET number = number + 1"))
database.close()
"""


def test_who_closes_a_database_that_others_use_leaves_it_whole(tmp_path: Path) -> None:
    """SQLite knows by locks that others use it: the last one to close takes the log of writes away."""
    database = Database(f"sqlite:///{tmp_path}/a.db")
    with database.write() as session:
        session.execute(text("CREATE TABLE t (number INTEGER)"))
        session.execute(text("INSERT INTO t VALUES (0)"))
    log = tmp_path / "a.db-wal"
    for number in range(3):
        with database.read() as one, database.read() as another:  # so that connections are made while others are open
            assert one.scalar(text("SELECT number FROM t")) == another.scalar(text("SELECT number FROM t")) == number
        was = log.stat().st_ino
        done = subprocess.run(
            [sys.executable, "-c", _ANOTHER, database.url], capture_output=True, text=True, check=False
        )
        assert done.stdout == f"{number}\n", done.stderr
        assert log.stat().st_ino == was
    database.close()
    assert not log.exists()


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_BUSY_SNAPSHOT])
def test_the_switch_of_the_journal_waits_for_others_whatever_they_do(code: int) -> None:
    class Connection:
        refusals = 2

        def execute(self, _: str) -> None:
            if self.refusals:
                self.refusals -= 1
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = code
                raise error

    connection = Connection()
    _write_ahead(connection)
    assert connection.refusals == 0


def test_write_commits_and_then_calls_back(database: Database) -> None:
    seen: list[int] = []

    def look() -> None:
        with database.read() as session:
            seen.append(session.execute(text("SELECT count(*) FROM t")).scalar_one())

    with database.write() as session:
        session.execute(text("INSERT INTO t (x) VALUES (1)"))
        after_commit(session, look)
        assert seen == []
    assert seen == [1]


def test_error_rolls_back_and_calls_nothing(database: Database) -> None:
    seen: list[int] = []
    with pytest.raises(RuntimeError), database.write() as session:  # noqa: PT012
        session.execute(text("INSERT INTO t (x) VALUES (1)"))
        after_commit(session, lambda: seen.append(1))
        raise RuntimeError
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM t")).scalar_one() == 0
    assert seen == []


def test_writers_that_read_first_do_not_lose_updates(database: Database) -> None:
    with database.write() as session:
        session.execute(text("INSERT INTO t (x, y) VALUES (0, NULL)"))
        session.execute(text("CREATE TABLE counter (n INTEGER)"))
        session.execute(text("INSERT INTO counter VALUES (0)"))

    def add() -> None:
        for _ in range(20):
            with database.write() as session:
                n = session.execute(text("SELECT n FROM counter")).scalar_one()
                session.execute(text("UPDATE counter SET n = :n"), {"n": n + 1})

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert session.execute(text("SELECT n FROM counter")).scalar_one() == 80


def test_what_the_database_gave_up_on_is_done_again(database: Database) -> None:
    attempts, seen = 0, list[int]()

    def add(session: Session) -> int:
        nonlocal attempts
        attempts += 1
        session.execute(text("INSERT INTO t (x) VALUES (:n)"), {"n": attempts})
        after_commit(session, lambda n=attempts: seen.append(n))
        if attempts < 3:
            raise busy()
        return attempts

    assert database.retry(add, 10) == 3
    assert seen == [3]
    with database.read() as session:
        assert session.execute(text("SELECT x FROM t")).scalars().all() == [3]


def test_other_errors_and_those_that_stay_are_raised(database: Database) -> None:
    def fail(error: Exception) -> int:
        calls = 0

        def function(_: Session) -> None:
            nonlocal calls
            calls += 1
            raise error

        with pytest.raises(type(error)):
            database.retry(function, 0.4)
        return calls

    assert fail(busy()) > 1
    assert fail(OperationalError("x", {}, sqlite3.OperationalError("no such table"))) == 1
    assert fail(ValueError()) == 1


@pytest.mark.parametrize(
    ("state", "transient"),
    [
        ("40P01", True),
        ("40001", True),
        ("57P01", True),
        ("08006", True),
        (None, True),
        ("57014", False),
        ("23505", False),
    ],
)
def test_states_of_postgres(state: str | None, transient: bool) -> None:
    class DriverError(Exception):
        sqlstate = state

    assert is_transient(OperationalError("x", {}, DriverError())) == transient


def busy() -> OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return OperationalError("x", {}, error)
