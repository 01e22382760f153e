"""Errors to exit codes, in one place: 0 done, 1 the answer is no, 2 wrong use, 3 a tool or node failed."""

import os
import tempfile
import traceback
from pathlib import Path
from typing import Protocol, runtime_checkable

from rich.markup import escape

from cli.output import emit_json, errors
from compiler.errors import InvalidInputError, MillraceError, ReportError, UnsupportedError
from db.errors import ConflictError, DatabaseError, InvalidNameError, NotFoundError
from millrace.errors import Error as ClientError
from millrace.errors import ProblemError, UsageError
from worker.errors import ServiceError, SettingsError
from worker.program import as_typed

DONE = 0
NO = 1
WRONG_USE = 2
FAILED = 3
INTERRUPTED = 130

_WRONG_INPUT = (
    InvalidInputError,
    UnsupportedError,
    ReportError,
    NotFoundError,
    ConflictError,
    InvalidNameError,
    SettingsError,
    UsageError,
)


class InterruptedExplorationError(KeyboardInterrupt):
    """Ctrl-C while the exploration `name` was watched; `url` is where it goes on, None where it stopped with the
    command.
    """

    def __init__(self, name: str, url: str | None) -> None:
        super().__init__(name)
        where = f"goes on at {url}" if url else "stops until a service runs again, its designs are kept"
        self.advice = f"{name} {where}; go on with: millrace explore --resume {name}"


@runtime_checkable
class _UsageError(Protocol):
    """What typer raises for a command line that it cannot read; it keeps the class to itself."""

    exit_code: int

    def format_message(self) -> str: ...


def exit_code(error: BaseException) -> int:
    """The exit code for an error that ended a command."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, _UsageError):
        return error.exit_code
    if isinstance(error, _WRONG_INPUT):
        return WRONG_USE
    if isinstance(error, ProblemError):
        return WRONG_USE if 400 <= error.status < 500 else FAILED
    return FAILED


def report(error: BaseException, as_json: bool = False) -> int:
    """Say what ended the command and what to do; return its exit code.

    People read it on stderr; with `as_json` it is the command's document on stdout: `{"error": {"type", "message"}}`.
    """
    known, message = _message(error)
    message = as_typed(message)
    if not known:
        message += f"; the details are in {_write_log(error)}, please send that file with the report"
    if as_json:
        emit_json({"error": {"type": type(error).__name__, "message": message}})
    elif isinstance(error, KeyboardInterrupt):
        errors.print(message, markup=False)
    else:
        errors.print(f"[red]{'error' if known else 'internal error'}:[/] {escape(message)}")
    return exit_code(error)


def _message(error: BaseException) -> tuple[bool, str]:
    """Whether the error is one that is expected to happen, and what it says."""
    if isinstance(error, InterruptedExplorationError):
        return True, f"interrupted: {error.advice}"
    if isinstance(error, KeyboardInterrupt):
        return True, "interrupted; what was finished is kept, an unfinished directory is not"
    if isinstance(error, _UsageError):
        return True, error.format_message()
    if isinstance(error, MillraceError | ServiceError | DatabaseError | ClientError):
        return True, str(error)
    if isinstance(error, OSError) and error.strerror:
        return True, f"{error.strerror}: {error.filename or ''}".rstrip(": ")
    return False, f"{error!r}; this is a defect of Millrace"


def _write_log(error: BaseException) -> Path:
    handle, name = tempfile.mkstemp(prefix="millrace-error-", suffix=".log")
    with os.fdopen(handle, "w") as log:
        log.writelines(traceback.format_exception(error))
    return Path(name)
