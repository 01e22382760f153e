"""Backups of farms that work, and between SQLite and Postgres."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from backup_homes import Home, fill_home, new_home
from dump_contract import DumpContract
from processes import PATIENCE, wait_for
from running_service import StartService, service_environment

from db.engine import Database
from worker.backup.make import back_up
from worker.backup.restore import restore

pytestmark = pytest.mark.e2e


def no_progress(_what: str, _done: int, _total: int) -> None:
    pass


@pytest.fixture
def database(migrated_postgres_url: str) -> Generator[Database]:
    opened = Database(migrated_postgres_url)
    yield opened
    opened.close()


class TestDumpOnPostgres(DumpContract):
    """On Postgres."""


@pytest.fixture
def sqlite(tmp_path: Path) -> Generator[Home]:
    made = new_home(tmp_path / "sqlite")
    with closing(made.database):
        yield made


@pytest.fixture
def postgres(tmp_path: Path, postgres_url: str) -> Generator[Home]:
    made = new_home(tmp_path / "postgres", postgres_url)
    with closing(made.database):
        yield made


@pytest.mark.parametrize("way", ["there", "back"])
def test_a_farm_moves_between_sqlite_and_postgres(sqlite: Home, postgres: Home, tmp_path: Path, way: str) -> None:
    source, target = (sqlite, postgres) if way == "there" else (postgres, sqlite)
    fill_home(source)
    back_up(source.database, source.store, tmp_path / "b.tar.zst", no_progress)
    restore(target.database, target.store, tmp_path / "b.tar.zst", replace=False, progress=no_progress)
    assert target.rows() == source.rows()
    assert target.digests() == source.digests() - {source.store.put_bytes(b"garbage")}


def millrace(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cli.main import run; run()", *arguments]
    environment = service_environment(home)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_backup_of_a_farm_whose_builds_run_goes_on_elsewhere(start_service: StartService, tmp_path: Path) -> None:
    service = start_service(tmp_path / "first", SLOW_SECONDS=0.05)
    exploration = service.explore(budget=64, verify=2)
    wait_for(lambda: service.get(f"/v1/explorations/{exploration}")["evaluated"] >= 16, PATIENCE, "a batch")
    made = millrace(service.home, "farm", "backup", str(tmp_path / "b"), "--json")
    assert made.returncode == 0, made.stderr
    done = millrace(tmp_path / "second", "farm", "restore", str(tmp_path / "b"), "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == made.stdout
    first = service.wait_state(exploration, "done", "failed")  # it went on meanwhile
    second = start_service(tmp_path / "second")
    found = second.wait_state(exploration, "done", "failed")
    assert (found["state"], found["evaluated"]) == (first["state"], first["evaluated"]) == ("done", 64)
    refused = millrace(tmp_path / "second", "farm", "restore", str(tmp_path / "b"), "--replace")
    assert refused.returncode == 3
    assert "stop all of Millrace" in refused.stderr
