"""What only its owner may read."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.engine import Database
from db.migrate import upgrade
from worker.private import private_file, tighten
from worker.settings import Settings


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def test_a_new_home_and_its_database(settings: Settings) -> None:
    assert tighten(settings) == []
    assert mode(settings.home) == 0o700
    upgrade(settings.database)
    database = Database(settings.database)
    with database.write() as session:
        session.connection().exec_driver_sql("DELETE FROM events")
        files = sorted(settings.home.glob("millrace.db*"))
        assert [file.suffix for file in files] == [".db", ".db-shm", ".db-wal", ".lock"]
        assert {mode(file) for file in files if file.suffix != ".lock"} == {0o600}
    database.close()


def test_an_engine_makes_a_private_home(settings: Settings) -> None:
    upgrade(settings.database)
    assert (mode(settings.home), mode(settings.home / "millrace.db")) == (0o700, 0o600)


def test_what_an_earlier_release_left_open_is_closed_and_said(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.home.mkdir(mode=0o755)
    file = settings.home / "millrace.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE a (b)")
        names = [settings.home, *settings.home.glob("millrace.db*")]
        for name in names[1:]:
            name.chmod(0o644)
        settings.home.chmod(0o755)
        with caplog.at_level(logging.WARNING):
            assert len(tighten(settings)) == len(names) == 4
    assert f"{settings.home} could be read by others (0755); now only its owner can" in caplog.text
    assert (mode(settings.home), mode(file)) == (0o700, 0o600)
    assert tighten(settings) == []


def test_a_private_file_is_new_and_private(tmp_path: Path) -> None:
    file = tmp_path / "part"
    file.write_text("old")
    file.chmod(0o644)
    private_file(file)
    assert (mode(file), file.read_text()) == (0o600, "")
