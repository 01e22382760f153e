"""Runs the importer's process: limits, progress, and no orphan whatever happens to the caller."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Timer
from typing import IO, Any, Self

import compiler
from compiler.errors import ImporterCrashError, ToolError
from compiler.frontend.cached import workplace
from compiler.frontend.inputs.source import Source, source_to_json
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.plain_text import LOGGED, plain
from compiler.frontend.worker import ERRORS
from compiler.options import Workload

TIMEOUT_SECONDS = 1800.0
_TAIL_BYTES = 4000
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OMP_WAIT_POLICY")


class Importer:
    """The importer's process of one source, which writes below `folder` only. It is started for the first job, and has
    loaded its libraries for those that follow.

    Its whole process group is killed on every way out.
    """

    def __init__(self, source: Source, folder: Path, timeout: float = TIMEOUT_SECONDS) -> None:
        self.folder = folder
        self.source = source
        self._timeout = timeout
        self._held = ExitStack()
        self._log: IO[bytes] = self._held.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # it is
        self._scratch = Path(self._held.enter_context(tempfile.TemporaryDirectory()))
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._held:
            if self._process is not None:
                _kill(self._process)
                _close(self._process)

    def run(
        self, job: Workload | NetworkRequest, directory: Path, on_progress: Callable[[str], None] | None = None
    ) -> None:
        """Fill `directory`, which is `folder` or lies below it, with the files of a workload's bundle, or of a
        network's export.

        Raises what the process raised, ImporterCrashError where it crashed, ToolError where it was killed or took
        longer than `timeout` seconds; it takes no more jobs then. The end of its log goes to `on_progress`.
        """
        process = self._process = self._process or self._start()
        timer = Timer(self._timeout, _kill, [process])
        timer.start()
        try:
            reply = _converse(process, {**_job(job), "directory": str(directory)}, on_progress)
            if "done" in reply:
                return
            status = process.wait()
            timed_out = status != 0 and not timer.is_alive()
        finally:
            timer.cancel()
        if status and on_progress is not None:
            for line in _tail(self._log).splitlines():
                on_progress(f"{LOGGED}{plain(line, (directory, self._scratch))}")
        if "error" in reply:
            raise ERRORS[reply["error"]](reply["message"])
        if timed_out:
            raise ToolError(f"importing {self.source.name} took longer than {self._timeout:g} s; use fewer layers")
        if status:
            raise _failure(status, self.source.name)

    def _start(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "compiler.frontend.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(str(self._scratch)),
            start_new_session=True,
            text=True,
        )
        _send(
            process,
            {
                "source": source_to_json(self.source),
                "folder": str(self.folder),
                "cpu_seconds": max(1, int(self._timeout * (os.cpu_count() or 1))),
            },
        )
        return process


@contextmanager
def importing(source: Source, cache: Path) -> Generator[Importer]:
    """An importer for all that a command needs of a source, which makes it in `cache`; another one that wants to import
    the same there waits for its end.
    """
    digest = blake2b(json.dumps(source_to_json(source), sort_keys=True).encode(), digest_size=16).hexdigest()
    with workplace(cache, f"{digest}.importing") as folder, Importer(source, folder) as importer:
        yield importer


def run_worker(
    source: Source,
    job: Workload | NetworkRequest,
    directory: Path,
    on_progress: Callable[[str], None] | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> None:
    """One job in a process of its own, see `Importer.run`."""
    with Importer(source, directory, timeout) as importer:
        importer.run(job, directory, on_progress)


def _job(job: Workload | NetworkRequest) -> dict[str, Any]:
    return {"workload" if isinstance(job, Workload) else "network": job.to_json()}


def _send(process: "subprocess.Popen[str]", line: dict[str, Any]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it died at once; its status and log say why
        print(json.dumps(line), file=process.stdin, flush=True)


def _converse(
    process: "subprocess.Popen[str]", request: dict[str, Any], on_progress: Callable[[str], None] | None
) -> dict[str, str]:
    """Send the request, pass progress on; what the worker says at the end of it, empty where it ended before."""
    assert process.stdout is not None
    _send(process, request)
    for line in process.stdout:
        message = _message(line)
        if "error" in message or "done" in message:
            return message
        if on_progress is not None and "progress" in message:
            on_progress(message["progress"])
    return {}


def _message(line: str) -> dict[str, str]:
    """One line of the worker; empty for one that its end cut short."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def _environment(scratch: str) -> dict[str, str]:
    """A small environment: our package, a private scratch folder, and hubs told that there is no network. PyTorch's
    threads sleep while they wait for one another, which beside other processes they would do for long.
    """
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return {
        "OMP_WAIT_POLICY": "passive",
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


def _close(process: "subprocess.Popen[str]") -> None:
    """Wait for the end of a process that was killed."""
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what it did not read
            if pipe is not None:
                pipe.close()


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
