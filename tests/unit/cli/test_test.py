"""`millrace test` hands the right things to the right tools; the tools themselves are stand-ins here."""

import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.commands import test as command
from cli.main import app

run = CliRunner().invoke
IGNORED = ("tests/e2e", "tests/browser")
QUICK = " ".join(
    ("-m not slow and not e2e and not browser", *(f"--ignore {path}" for path in IGNORED), "--hypothesis-profile quick")
)
TOOLS = ("ruff", "pyright", "lint-imports", "python", "pytest")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each call of a tool is a line of this file; FAILS names the tool that fails, TESTS how pytest ends."""
    file = tmp_path / "calls"
    for tool in TOOLS:
        script = tmp_path / tool
        status = "${TESTS:-0}" if tool == "pytest" else f'$([ "$FAILS" = {tool} ] && echo 1 || echo 0)'
        script.write_text(f'#!/bin/sh\necho "{tool} $*" >> {file}\necho "{tool} says so"\nexit {status}\n')
        script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(command, "_COMPILED", tmp_path)
    return file


def called(calls: Path) -> dict[str, str]:
    return {line.split()[0]: line for line in calls.read_text().splitlines()}


def test_everything_is_run_and_the_closing_line_is_pytests(calls: Path) -> None:
    result = run(app, ["test"])
    assert result.exit_code == 0, result.output
    assert called(calls).keys() == set(TOOLS)
    assert "--dist loadfile" in called(calls)["pytest"]
    assert result.output.splitlines()[-1] == "pytest says so"


def test_quick_leaves_out_the_types_and_what_is_slow(calls: Path) -> None:
    assert run(app, ["test", "--quick"]).exit_code == 0
    assert called(calls).keys() == set(TOOLS) - {"pyright"}
    assert f"pytest {QUICK} -n" in called(calls)["pytest"]


@pytest.mark.parametrize(("kept", "times"), [(True, 2), (False, 1)])
def test_before_the_first_run_one_process_compiles_the_modules(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool, times: int
) -> None:
    monkeypatch.setattr(command, "_COMPILED", tmp_path / "__pycache__")
    monkeypatch.setattr(sys, "dont_write_bytecode", not kept)
    assert run(app, ["test", "--quick"]).exit_code == 0
    asked = [line for line in calls.read_text().splitlines() if line.startswith("pytest")]
    assert len(asked) == times
    assert asked[-1].endswith("--dist loadfile --disable-warnings")
    assert asked[:-1] == [f"pytest {QUICK} --collect-only -q"] * (times - 1)


@pytest.mark.parametrize("failing", ["ruff", "pyright", "lint-imports"])
def test_a_check_that_fails_is_shown_and_fails_the_run(
    calls: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    monkeypatch.setenv("FAILS", failing)
    result = run(app, ["test"])
    assert result.exit_code == 1
    assert f"{failing} says so" in result.output.splitlines()
    assert result.output.splitlines()[-1] == "pytest says so"


@pytest.mark.parametrize(
    ("arguments", "handed"),
    [
        (["-k", "fifo"], "pytest -k fifo"),
        (["tests/unit/compiler", "-k", "fifo", "-x"], "pytest tests/unit/compiler -k fifo -x"),
        (["--quick", "-k", "fifo"], f"pytest {QUICK} -k fifo"),
        (["--last-failed"], "pytest --last-failed --last-failed-no-failures=none"),
        (["--lf", "-x"], "pytest --last-failed --last-failed-no-failures=none -x"),
    ],
)
def test_arguments_are_pytests_and_nothing_else_runs(calls: Path, arguments: list[str], handed: str) -> None:
    assert run(app, ["test", *arguments]).exit_code == 0
    assert called(calls) == {"pytest": handed}


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [(["--last-failed"], 5, 0), (["--last-failed"], 1, 1), (["-k", "no_such"], 5, 1), ([], 1, 1), ([], 5, 1)],
)
def test_no_test_is_a_failure_but_where_none_had_failed(
    calls: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, code: int
) -> None:
    monkeypatch.setenv("TESTS", str(status))
    assert run(app, ["test", *arguments]).exit_code == code


def test_workers_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    def workers(cores: int, gib: int, per_core: int = 2) -> int:
        memory = psutil.virtual_memory()._replace(available=gib << 30)
        monkeypatch.setattr(os, "cpu_count", lambda: cores)
        monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
        return command._workers(per_core)

    assert [workers(2, 23), workers(2, 5), workers(2, 23, 1), workers(1, 1), workers(16, 128)] == [4, 2, 2, 1, 8]
