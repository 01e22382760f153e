import json
import re
from pathlib import Path

import pytest

from cli.errors import exit_code, report
from compiler.errors import InvalidInputError, ReportError, ToolError, UnsupportedError
from db.errors import NotFoundError
from millrace.errors import ProblemError, ServiceUnavailableError, UsageError
from worker.errors import SettingsError, StartError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInputError("x"), 2),
        (UnsupportedError("x"), 2),
        (ReportError("x"), 2),
        (ProblemError(404, "not-found", "x"), 2),
        (ProblemError(503, "database-away", "x"), 3),
        (ServiceUnavailableError("x"), 3),
        (UsageError("x"), 2),
        (ToolError("x"), 3),
        (NotFoundError("design", "dsg_1"), 2),
        (StartError("x"), 3),
        (SettingsError("x"), 2),
        (OSError(28, "No space left on device"), 3),
        (ZeroDivisionError("x"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(error: BaseException, code: int):
    assert exit_code(error) == code


def test_a_message_with_brackets_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]):
    report(InvalidInputError("tensor[2, /] is bad"))
    assert "error: tensor[2, /] is bad" in capsys.readouterr().err


def test_a_message_with_colons_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]):
    report(InvalidInputError("it starts with 'root:x:0:0'"))  # :x: is an emoji to the library that prints
    assert "error: it starts with 'root:x:0:0'" in capsys.readouterr().err


def test_an_unexpected_error_leaves_a_log(capsys: pytest.CaptureFixture[str]):
    report(ZeroDivisionError("division by zero"))
    match = re.search(r"/\S+\.log", capsys.readouterr().err)
    assert match
    log = Path(match[0])
    assert "ZeroDivisionError: division by zero" in log.read_text()
    log.unlink()


def test_a_full_disk_names_the_file(capsys: pytest.CaptureFixture[str]):
    report(OSError(28, "No space left on device", "/data/x"))
    assert "error: No space left on device: /data/x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (InvalidInputError("tensor[2, /] is bad"), "InvalidInputError", "tensor[2, /] is bad"),
        (
            KeyboardInterrupt(),
            "KeyboardInterrupt",
            "interrupted; what was finished is kept, an unfinished directory is not",
        ),
        (OSError(28, "No space left on device", "/data/x"), "OSError", "No space left on device: /data/x"),
    ],
)
def test_an_error_as_json_is_one_document(
    capsys: pytest.CaptureFixture[str], error: BaseException, kind: str, message: str
):
    code = report(error, as_json=True)
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"error": {"type": kind, "message": message}}
    assert (code, printed.err) == (exit_code(error), "")


def test_a_hint_says_the_command_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MILLRACE_PROGRAM", "./millrace")
    report(NotFoundError("node", "n", "millrace farm status lists them"))
    assert "./millrace farm status lists them" in capsys.readouterr().err
    report(NotFoundError("node", "n", "millrace farm status lists them"), as_json=True)
    assert "./millrace farm status" in json.loads(capsys.readouterr().out)["error"]["message"]
