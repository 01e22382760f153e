"""The executor's side: one job after the other in one process, each with a log of its own and a clean surrounding."""

import ctypes
import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import resolve_name
from typing import cast

from worker.limits.shared_memory import clear_private, take_private
from worker.running.guard import kill_descendants
from worker.running.orders import Order, Reply
from worker.running.surroundings import Surroundings

MOST_JOBS = 1000
NOT_READY = 78
"""Exit status of an executor that can not load what does its jobs (EX_CONFIG of sysexits.h)."""
_LIBC = ctypes.CDLL(None)

Perform = Callable[[Order], Reply]
"""Does one job, its output going to its log; raises what is nobody's fault but this program's."""


def serve(channel: int, target: str) -> bool:
    """Do jobs until the worker closes the channel: False, or until this process is worn: True."""
    os.set_inheritable(channel, False)
    perform = _prepared(target)
    cast(TextIOWrapper, sys.stdout).reconfigure(line_buffering=True)  # a log is watched
    is_private = take_private()
    surroundings = Surroundings.now()
    done = 0
    with Connection(channel) as connection, suppress(EOFError):
        while True:
            order: Order = connection.recv()
            if not done:
                _enter_group(order)
            with _output_to(Path(order.log)):
                reply = perform(order)
            done += 1
            reasons = _clean_up(surroundings, done), clear_private() if is_private else None, reply.retire
            reply = replace(reply, retire=next(filter(None, reasons), None))
            connection.send(reply)
            if reply.retire:
                return True
    return False


def _enter_group(order: Order) -> None:
    """Be in the group that holds to limits, with all that is started from now on."""
    for file in order.group.entrance if order.group is not None else ():
        Path(file).write_text("0")


def _prepared(target: str) -> Perform:
    """What does the jobs; where it can not be made, what says why in the first job's log."""
    try:
        return resolve_name(target)()
    except Exception as error:  # noqa: BLE001  # raised again where somebody sees it
        return partial(_fail, error)


def _fail(error: Exception, _order: Order) -> Reply:
    traceback.print_exception(error)
    flush_output()
    sys.exit(NOT_READY)


def _clean_up(before: Surroundings, done: int) -> str | None:
    """Put things back as they were; why this process should end, if it should."""
    if not _is_childless():
        kill_descendants()
        return "the job left processes behind"
    if done >= MOST_JOBS:
        return f"it has done {done} jobs"
    return before.restore()


def _is_childless() -> bool:
    # Orphans are adopted (guard.adopt_orphans), so whatever a job has left is a child of this process.
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@contextmanager
def _output_to(log: Path) -> Generator[None]:
    """Standard output and error go to the file, those of C libraries and tools too. An end by exception stays there:
    its traceback belongs into the log.
    """
    before = os.dup(1), os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    _redirect(target, target)
    os.close(target)
    yield
    flush_output()
    _redirect(*before)
    for descriptor in before:
        os.close(descriptor)


def _redirect(output: int, errors: int) -> None:
    os.dup2(output, 1)
    os.dup2(errors, 2)


def flush_output() -> None:
    """Write out what Python and C libraries hold back."""
    with suppress(OSError, ValueError):  # a full disk; a stream that the job closed
        sys.stdout.flush()
        sys.stderr.flush()
    _LIBC.fflush(None)
