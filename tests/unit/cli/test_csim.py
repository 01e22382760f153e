"""`millrace csim`: what it passes on, and what it says of a design that was edited."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import compiler.proof.csim
from cli.main import app
from compiler.proof.verdict import Verdict

RUNNER = CliRunner()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Calls of the verification, which finds a file edited where that is allowed."""
    made: list[dict[str, Any]] = []

    def csim(directory: Path, on_stage: object, timeout: float, **options: Any) -> Verdict:
        made.append(options)
        edited = ("hls/tb.cpp",) if options["allow_edited"] else ()
        return Verdict(True, (), "", 0.5, 5, 4, ("store_y",), edited=edited, reference="MLIR ExecutionEngine")

    monkeypatch.setattr(compiler.proof.csim, "csim", csim)
    return made


def test_edited_files_are_allowed_only_on_request(calls: list[dict[str, Any]], tmp_path: Path) -> None:
    plain = RUNNER.invoke(app, ["csim", str(tmp_path)])
    assert plain.exit_code == 0, plain.output
    assert "edited" not in plain.output
    allowed = RUNNER.invoke(app, ["csim", str(tmp_path), "--allow-edited"])
    assert allowed.exit_code == 0, allowed.output
    assert "edited since: hls/tb.cpp" in allowed.output.replace("\n", " ")
    assert [call["allow_edited"] for call in calls] == [False, True]


def test_the_reference_is_named(calls: list[dict[str, Any]], tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["csim", str(tmp_path)])
    assert calls
    assert "passed against MLIR ExecutionEngine in 0.5 s" in result.output


def test_tasks_that_were_not_checked_are_named(calls: list[dict[str, Any]], tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["csim", str(tmp_path)])
    assert calls
    assert "proven, 4 of 5 tasks\nnot checked: store_y" in result.output
