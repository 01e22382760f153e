"""Errors to exit codes, in one place: 0 done, 1 the answer is no, 2 wrong use, 3 a tool or node failed."""

import os
import tempfile
import traceback
from pathlib import Path

from rich.markup import escape

from cli.output import errors
from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from db.errors import ConflictError, DatabaseError, NotFoundError
from worker.errors import ServiceError, SettingsError

DONE = 0
NO = 1
WRONG_USE = 2
FAILED = 3
INTERRUPTED = 130


class ServiceUnavailableError(MillraceError):
    """No Millrace service answers; the text says how to start one."""


class RefusedError(MillraceError):
    """The service answered with a problem document (RFC 9457). `status` is the HTTP status."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class InterruptedExplorationError(KeyboardInterrupt):
    """Ctrl-C while an exploration was watched; `url` is where it goes on, None where it stopped with the command."""

    def __init__(self, exploration: str, url: str | None) -> None:
        super().__init__(exploration)
        where = f"goes on at {url}" if url else "is stopped, its designs are kept"
        self.advice = f"{exploration} {where}; go on with: millrace explore --resume {exploration}"


def exit_code(error: BaseException) -> int:
    """The exit code for an error that ended a command."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, InvalidInputError | UnsupportedError | NotFoundError | ConflictError | SettingsError):
        return WRONG_USE
    if isinstance(error, RefusedError):
        return WRONG_USE if 400 <= error.status < 500 else FAILED
    return FAILED


def report(error: BaseException) -> int:
    """Say on stderr what ended the command and what to do; return its exit code."""
    if isinstance(error, InterruptedExplorationError):
        errors.print(f"interrupted: {error.advice}")
    elif isinstance(error, KeyboardInterrupt):
        errors.print("interrupted; what was finished is kept")
    elif isinstance(error, MillraceError | ServiceError | DatabaseError):
        errors.print(f"[red]error:[/] {escape(str(error))}")
    elif isinstance(error, OSError) and error.strerror:
        errors.print(f"[red]error:[/] {escape(error.strerror)}: {escape(str(error.filename or ''))}".rstrip(": "))
    else:
        errors.print(f"[red]internal error:[/] {escape(repr(error))}; this is a defect of Millrace")
        errors.print(f"The details are in {_write_log(error)}; please send that file with the report.")
    return exit_code(error)


def _write_log(error: BaseException) -> Path:
    handle, name = tempfile.mkstemp(prefix="millrace-error-", suffix=".log")
    with os.fdopen(handle, "w") as log:
        log.writelines(traceback.format_exception(error))
    return Path(name)
