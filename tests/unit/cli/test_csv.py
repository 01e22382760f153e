"""Every list can be had as CSV."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
import typer
from migrated import migrated
from typer.testing import CliRunner

from cli.errors import exit_code
from cli.main import app
from worker.settings import Settings

LISTS = [
    ["pareto"],
    ["model", "list"],
    ["build", "list"],
    ["sweep", "list"],
    ["farm", "key", "list"],
    ["farm", "licence", "list"],
    ["farm", "audit"],
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    for name in ("MILLRACE_SERVER", "MILLRACE_API_KEY", "MILLRACE_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    migrated(Settings().database)


def rows(*arguments: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, [*arguments, "--csv"])
    assert done.exit_code == 0, (done.output, done.exception)
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_a_list_as_csv(command: list[str]) -> None:
    found = rows(*command)
    assert [row["name"] for row in found if row["kind"] == "builtin"] if command[0] == "model" else not found


def test_objects_are_columns() -> None:
    found = next(row for row in rows("model", "list") if row["name"] == "gpt2")
    assert (found["kind"], found["config.n_layer"]) == ("builtin", "12")
    assert rows("farm", "licence", "list") == []


def test_one_form_at_a_time() -> None:
    refused = CliRunner().invoke(app, ["model", "list", "--csv", "--json"])
    assert refused.exception is not None
    assert exit_code(refused.exception) == 2


def commands(group: Any, path: tuple[str, ...] = ()) -> Any:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_no_list_is_forgotten() -> None:
    found = dict(commands(typer.main.get_command(app)))
    lists = [list(path) for path in found if path[-1] == "list"]
    assert all(path in LISTS for path in lists)
    for path in LISTS:
        assert "--csv" in {option for parameter in found[tuple(path)].params for option in parameter.opts}
