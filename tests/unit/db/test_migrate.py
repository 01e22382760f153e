import sqlite3
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from old_releases import MANY, RELEASES, check_downgraded, check_tables, check_upgraded, store_old_release
from sqlalchemy import event

from db import migrate
from db.engine import make_engine
from db.errors import ConflictError
from db.models import Base


def test_models_and_migrations_agree(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    migrate.upgrade(url)
    check_tables(url)


def test_indexes_agree_to_the_letter(tmp_path: Path) -> None:
    """Alembic does not compare the conditions of partial indexes."""
    migrate.upgrade(f"sqlite:///{tmp_path}/a.db")
    Base.metadata.create_all(make_engine(f"sqlite:///{tmp_path}/b.db"))
    query = sa.text("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY sql")
    a, b = (make_engine(f"sqlite:///{tmp_path}/{name}.db").connect() for name in "ab")
    with a, b:
        assert a.execute(query).all() == b.execute(query).all()


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_an_earlier_release_keeps_its_rows(tmp_path: Path, release: str) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    store_old_release(url, release, MANY)
    check_upgraded(url, release)
    check_tables(url)
    with make_engine(url).connect() as connection:
        assert connection.execute(sa.text("PRAGMA foreign_keys")).scalar() == 1


def test_a_deadlock_becomes_what_refutes_its_design_and_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    store_old_release(url, "0010")
    check_upgraded(url, "0010")
    check_downgraded(url)
    check_upgraded(url, "0010")


def test_an_upgrade_that_would_lose_a_reference_is_undone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    store_old_release(url, "0002")
    with make_engine(url).connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute("PRAGMA foreign_keys=OFF")
        driver.execute("DELETE FROM builds WHERE id = 'bld_2'")
    with pytest.raises(ConflictError, match="a row of metrics refers to a row of builds"):
        migrate.upgrade(url)
    assert migrate.current_revision(make_engine(url)) == "0002"


def test_head_is_the_newest_script() -> None:
    assert ScriptDirectory(str(Path(migrate.__file__).parent / "migrations")).get_heads() == [migrate.HEAD]


def test_upgrade_is_idempotent(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    migrate.upgrade(url)
    migrate.upgrade(url)
    assert migrate.current_revision(make_engine(url)) == migrate.HEAD


def test_two_that_start_at_once_take_turns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [url] * 4))
    assert migrate.current_revision(make_engine(url)) == migrate.HEAD


@contextmanager
def before_each(statement: str, do: Any) -> Generator[None]:
    """Call `do` right before any engine executes a statement that begins so."""

    def look(_connection: object, _cursor: object, text: str, *_: object) -> None:
        if text.strip().startswith(statement):
            do()

    event.listen(sa.Engine, "before_cursor_execute", look)
    try:
        yield
    finally:
        event.remove(sa.Engine, "before_cursor_execute", look)


def test_nobody_writes_between_what_a_migration_reads_and_what_it_writes(tmp_path: Path) -> None:
    """SQLite would not wait there: who turns from reader to writer fails at once. Even one that only opens the database
    has the writers' lock for a moment.
    """
    refused: list[str] = []
    with closing(sqlite3.connect(tmp_path / "a.db", timeout=0, isolation_level=None)) as other:

        def write() -> None:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                refused.append(str(error))

        with before_each("CREATE TABLE alembic_version", write):
            migrate.upgrade(f"sqlite:///{tmp_path}/a.db")
    assert refused == ["database is locked"]


def test_many_that_open_a_new_database_at_once_wait_for_each_other(tmp_path: Path) -> None:
    def connect(url: str) -> None:
        engine = make_engine(url)
        with engine.connect():
            pass
        engine.dispose()

    with ThreadPoolExecutor(8) as pool:  # without the retry about one round in fifteen met a locked database
        for round_ in range(60):
            list(pool.map(connect, [f"sqlite:///{tmp_path}/{round_}.db"] * 8))


def test_empty_database_has_no_revision(tmp_path: Path) -> None:
    assert migrate.current_revision(make_engine(f"sqlite:///{tmp_path}/a.db")) is None


def test_tables_of_a_newer_release_are_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    migrate.upgrade(url)
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConflictError, match=r"newer Millrace \(revision 9999, this one knows"):
        migrate.upgrade(url)
    assert migrate.current_revision(engine) == "9999"
