"""`millrace farm backup | restore | collect | upgrade` on the settings of this machine."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest
from backup_homes import fill_home, new_home
from typer.testing import CliRunner, Result

from cli.errors import exit_code
from cli.main import app
from db.migrate import HEAD
from worker.errors import BackupError


def run(home: Path, *arguments: str) -> Result:
    settings = {"MILLRACE_HOME": str(home), "MILLRACE_DATABASE_URL": "", "MILLRACE_STORE_URL": ""}
    return CliRunner(env=settings).invoke(app, ["farm", *arguments])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = new_home(tmp_path / "home")
    with closing(made.database):
        fill_home(made)
    return tmp_path / "home"


def test_backup_and_restore(home: Path, tmp_path: Path) -> None:
    made = run(home, "backup", str(tmp_path / "b.tar.gz"), "--json")
    assert made.exit_code == 0, made.output
    report = json.loads(made.stdout)
    assert (report["artifacts"], report["missing"]) == (4, [])
    done = run(tmp_path / "other", "restore", str(tmp_path / "b.tar.gz"))
    assert done.exit_code == 0, done.output
    assert f"{report['rows']} rows, 4 artifacts, 3.0 MB" in done.stdout
    again = run(tmp_path / "other", "restore", str(tmp_path / "b.tar.gz"))
    assert isinstance(again.exception, BackupError)
    assert exit_code(again.exception) == 3


def test_artifact_that_is_missing_is_said(home: Path, tmp_path: Path) -> None:
    [log] = [p for p in (home / "store" / "sha256").rglob("*") if p.is_file() and p.read_bytes() == b"log"]
    log.unlink()
    done = run(home, "backup", str(tmp_path / "b"))
    assert done.exit_code == 0
    assert "was not in the store" in done.stderr


def test_collect_counts_first(home: Path) -> None:
    for path in (home / "store").rglob("*"):
        os.utime(path, (0, 0))
    counted = run(home, "collect")
    assert "1 contents, 0.0 MB, that nothing names: could be deleted with --delete" in counted.stdout
    assert json.loads(run(home, "collect", "--delete", "--json").stdout) == {"contents": 1, "bytes": 7, "deleted": True}
    assert json.loads(run(home, "collect", "--json").stdout)["contents"] == 0


def test_upgrade_of_an_empty_database(tmp_path: Path) -> None:
    assert f"revision {HEAD}" in run(tmp_path, "upgrade").stdout
