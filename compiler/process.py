"""Runs a child process in its own group, with limits, and never leaves it behind."""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO, Literal

import psutil

_POLL_S = 0.1
_OUTPUT_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of wall clock, bytes of resident memory, bytes of one output file."""

    timeout_s: float
    memory_bytes: int = 16 << 30
    file_bytes: int = 16 << 30


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended; `stopped` says why it was killed, None where it ended by itself. Outputs: the last MiB."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    stopped: Literal["timeout", "memory", "cancelled"] | None


def run_process(
    argv: Sequence[str | Path],
    cwd: Path,
    limits: Limits,
    environment: Mapping[str, str] | None = None,
    cancel: Event | None = None,
) -> Finished:
    """Run `argv` to its end or to a limit. Setting `cancel` from another thread kills it."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            argv, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            _limit(process.pid, limits)
            stopped = _watch(process, started + limits.timeout_s, limits.memory_bytes, cancel)
        finally:
            _kill_group(process)
        return Finished(process.returncode, _tail(out), _tail(err), time.monotonic() - started, stopped)


def _limit(pid: int, limits: Limits) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended already
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
        seconds = int(limits.timeout_s) + 2  # holds even when this process is killed and can not watch
        resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))


def _watch(
    process: subprocess.Popen[bytes], deadline: float, memory_bytes: int, cancel: Event | None
) -> Literal["timeout", "memory", "cancelled"] | None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            return None
        if time.monotonic() > deadline:
            return "timeout"
        if cancel is not None and cancel.is_set():
            return "cancelled"
        with contextlib.suppress(psutil.Error):
            if psutil.Process(process.pid).memory_info().rss > memory_bytes:
                return "memory"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _OUTPUT_LIMIT))
    return file.read().decode(errors="replace")
