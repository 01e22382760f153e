import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cli
from cli.main import app
from worker.program import COMMANDS

run = CliRunner().invoke


def test_version():
    result = run(app, ["--version"])
    assert (result.exit_code, result.output.split()[0]) == (0, "millrace")


def test_hints_know_every_command():
    groups = [info.name for info in app.registered_groups]
    assert sorted(str(name) for name in (*groups, *(info.name for info in app.registered_commands))) == list(COMMANDS)


def test_help_has_the_commands_as_they_are_typed(monkeypatch: pytest.MonkeyPatch):
    assert "\n millrace design show 915" in run(app, ["design", "show", "--help"]).output
    monkeypatch.setenv("MILLRACE_PROGRAM", "./millrace")
    assert "\n ./millrace design show 915" in run(app, ["design", "show", "--help"]).output
    assert "`./millrace up`" in run(app, ["model", "list", "--help"]).output


def test_what_is_printed_names_the_command_as_it_is_typed():
    """Errors and help are told so at their edge."""
    sources = sorted(Path(cli.__path__[0]).rglob("*.py"))
    printed = [node for path in sources for node in ast.walk(ast.parse(path.read_text())) if _prints(node)]
    literal = [text for call in printed for text in _texts(call) if re.search(r"(^|[\s`/])millrace [a-z]", text)]
    assert len(printed) > 100
    assert literal == []


def _prints(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "print"


def _texts(call: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


@pytest.mark.parametrize("arguments", [["frobnicate"], ["compile"], ["csim"], ["compile", "gpt2", "--phase", "dream"]])
def test_wrong_use_exits_with_2(arguments: list[str]):
    assert run(app, arguments).exit_code == 2


LOADED = """
import sys
{imports}
print([m for m in {heavy} if m in sys.modules])
"""


@pytest.mark.parametrize(
    ("imports", "heavy"),
    [
        ("import cli.main", ["torch", "optuna", "sqlalchemy", "celery", "fastapi", "httpx", "numpy", "pydantic"]),
        # What finds the services of this machine, and what reads the results where none run.
        ("import cli.main, cli.service, worker.holder", ["sqlalchemy", "redis", "fastapi", "numpy"]),
        ("import cli.main, cli.service, worker.holder, cli.stored", ["torch", "optuna", "celery", "fastapi", "numpy"]),
    ],
    ids=["command line", "with services", "without services"],
)
def test_a_command_loads_nothing_heavy_that_it_does_not_need(imports: str, heavy: list[str]):
    script = LOADED.format(imports=imports, heavy=heavy)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ctrl_c_in_a_command_is_one_line(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.commands.doctor.run_checks", interrupted)
    result = run(app, ["doctor"])
    assert result.exit_code == 130
    assert result.output.strip().splitlines() == [
        "interrupted; what was finished is kept, an unfinished directory is not"
    ]


def _millrace(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cli.main import run; run()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_directory_that_is_no_design(tmp_path: Path):
    done = _millrace("csim", str(tmp_path))
    assert done.returncode == 2
    assert "is not a design directory" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["csim", "/nowhere", "--json"], "InvalidInputError", "is not a design directory"),
        (["csim", "--json"], "MissingParameter", "DIR"),
        (["frobnicate", "--json"], "UsageError", "frobnicate"),
        (["csim", "d", "--json", "--timeout", "soon"], "BadParameter", "--timeout"),
    ],
)
def test_with_json_errors_are_json(arguments: list[str], kind: str, message: str):
    done = _millrace(*arguments)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["type"], done.stderr) == (2, kind, "")
    assert message in error["message"]


def test_help_beside_json_is_help():
    done = _millrace("csim", "--json", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout
