import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app

run = CliRunner().invoke


def test_version():
    result = run(app, ["--version"])
    assert (result.exit_code, result.output.split()[0]) == (0, "millrace")


@pytest.mark.parametrize("arguments", [["frobnicate"], ["compile"], ["csim"], ["compile", "gpt2", "--phase", "dream"]])
def test_wrong_use_exits_with_2(arguments: list[str]):
    assert run(app, arguments).exit_code == 2


def test_the_command_line_loads_nothing_heavy():
    heavy = ["torch", "optuna", "sqlalchemy", "celery", "fastapi", "httpx", "numpy", "pydantic"]
    script = f"import sys, cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ctrl_c_in_a_command_is_one_line(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.commands.doctor.run_checks", interrupted)
    result = run(app, ["doctor"])
    assert result.exit_code == 130
    assert result.output.strip().splitlines() == ["interrupted; what was finished is kept"]


def test_a_directory_that_is_no_design(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", "from cli.main import run; run()", "csim", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is not a design directory" in done.stderr
