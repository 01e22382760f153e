"""Runs the importer's process: limits, progress, and no orphan whatever happens to the caller."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import IO, Any

import compiler
from compiler.errors import ImporterCrashError, ToolError
from compiler.frontend.inputs.source import Source, source_to_json
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.plain_text import plain
from compiler.frontend.worker import ERRORS
from compiler.options import Workload

TIMEOUT_SECONDS = 1800.0
_TAIL_BYTES = 4000
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")


def run_worker(
    source: Source,
    job: Workload | NetworkRequest,
    directory: Path,
    on_progress: Callable[[str], None] | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> None:
    """Fill `directory` with the files of a workload's bundle, or of a network's export.

    Raises what the worker raised, ImporterCrashError where it crashed, ToolError where it was killed or took longer
    than `timeout` seconds. The end of its log goes to `on_progress`. The worker's whole process group is killed on
    every way out.
    """
    request = {
        "source": source_to_json(source),
        "workload" if isinstance(job, Workload) else "network": job.to_json(),
        "directory": str(directory),
        "cpu_seconds": max(1, int(timeout * (os.cpu_count() or 1))),
    }
    with tempfile.TemporaryFile() as log, tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            [sys.executable, "-m", "compiler.frontend.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=_environment(scratch),
            start_new_session=True,
            text=True,
        )
        timer = Timer(timeout, _kill, [process])
        timer.start()
        try:
            error = _converse(process, request, on_progress)
            status = process.wait()
            timed_out = status != 0 and not timer.is_alive()
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
        if status and on_progress is not None:
            for line in _tail(log).splitlines():
                on_progress(f"importer: {plain(line, (directory, Path(scratch)))}")
        if error is not None:
            raise ERRORS[error["error"]](error["message"])
        if timed_out:
            raise ToolError(f"importing {source.name} took longer than {timeout:g} s; use fewer layers")
        if status:
            raise _failure(status, source.name)


def _converse(
    process: "subprocess.Popen[str]", request: dict[str, Any], on_progress: Callable[[str], None] | None
) -> dict[str, str] | None:
    """Send the request, pass progress on; the error that the worker reports, if any."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with process.stdin as pipe:
            json.dump(request, pipe)
    except BrokenPipeError:
        return None  # it died at once; its status and log say why
    error: dict[str, str] | None = None
    with process.stdout as lines:
        for line in lines:
            message = _message(line)
            if "error" in message:
                error = message
            elif on_progress is not None and "progress" in message:
                on_progress(message["progress"])
    return error


def _message(line: str) -> dict[str, str]:
    """One line of the worker; empty for one that its end cut short."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def _environment(scratch: str) -> dict[str, str]:
    """A small environment: our package, a private scratch folder, and hubs told that there is no network."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": str(Path(compiler.__path__[0]).parent),
        "PYTHONHASHSEED": "0",
        "TMPDIR": scratch,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "no_proxy": "*",
    }


def _kill(process: "subprocess.Popen[str]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it and its children are gone


def _failure(status: int, name: str) -> ToolError:
    """What the end of a worker that reported nothing says of the network."""
    if -status in _CRASHES:
        return ImporterCrashError(
            f"the importer crashed on {name} ({signal.Signals(-status).name}): it is damaged, or nests deeper than the "
            "reader's stack; export it again or flatter, and report it if that does not help"
        )
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return ToolError(
        f"importing {name} was ended ({how}), by its limit of memory or time or by an operator; use fewer layers, or "
        "run it again"
    )


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - _TAIL_BYTES))
    return log.read().decode(errors="replace").strip()
