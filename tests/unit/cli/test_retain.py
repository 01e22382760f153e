"""`millrace farm retain | retention` on the database of this machine."""

import json
from pathlib import Path

import pytest
from life_histories import BuildPast, DesignPast, ExplorationPast, Past, make
from typer.testing import CliRunner

from cli.main import app

OLD = BuildPast("done", True, (0, 1), 2)
FARM = Past(
    (ExplorationPast(False, False, False, None, True, (DesignPast(False, False, False, (OLD,)),)),), 5, 5, False
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make(tmp_path / "home", FARM)
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "home"


def millrace(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_dry_run_says_what_a_run_does(home: Path) -> None:
    looked = json.loads(millrace("farm", "retain", "--dry-run", "--json"))
    assert (looked["files"]["number"], looked["logs"]["number"], looked["contents"]["number"]) == (1, 1, 6)
    assert looked["contents"]["bytes"] == sum(p.stat().st_size for p in kept(home)) - len(b"content 5") * 6
    assert "contents of the store that nothing names" in millrace("farm", "retain", "--dry-run")
    done = json.loads(millrace("farm", "retain", "--json"))
    assert done | {"dry_run": True} == looked
    assert len(kept(home)) == 1
    assert json.loads(millrace("farm", "retain", "--json"))["contents"] == {"number": 0, "bytes": 0}


def kept(home: Path) -> list[Path]:
    return [path for path in (home / "store" / "sha256").glob("*/*") if path.is_file()]


def test_what_never_expires_stays(home: Path) -> None:
    shown = millrace("farm", "retention", "--set", "files=never", "--set", "logs=never", "--json")
    assert json.loads(shown) == {"events": 90, "audit": 730, "logs": None, "files": None}
    assert "never" in millrace("farm", "retention")
    looked = json.loads(millrace("farm", "retain", "--dry-run", "--json"))
    assert (looked["files"]["number"], looked["logs"]["number"], looked["events"]["number"]) == (0, 0, 2)


@pytest.mark.parametrize("text", ["files", "files=", "files=soon", "designs=7", "files=-1"])
def test_days_that_can_not_be(home: Path, text: str) -> None:
    assert CliRunner().invoke(app, ["farm", "retention", "--set", text]).exit_code != 0
