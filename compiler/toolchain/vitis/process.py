"""Runs one tool: its output line by line, its limits, and nothing of it left at the end."""

import contextlib
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from compiler.toolchain.report import Failure
from compiler.toolchain.vitis.environment import MARK, tool_environment
from compiler.toolchain.vitis.limits import GB, Limits
from compiler.toolchain.vitis.lines import LineReader
from compiler.toolchain.vitis.processes import kill_marked, marked, memory_bytes

EndedBy = Literal["timeout", "memory", "disk", "stopped"]

_DISK_SHARE = 0.05  # of the time goes into measuring the disk at most


class Watcher(Protocol):
    """Follows a run and may end it early. It sees every line, and is asked for its verdict now and then."""

    def line(self, text: str) -> None: ...

    def verdict(self) -> Failure | None:
        """Why the run should end now; None lets it go on."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """Seconds between two looks at memory and time, and between two walks through the work folder."""

    every_s: float = 0.5
    disk_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Command:
    """`folders` are put in front of the path, `settings` into the environment."""

    argv: tuple[str, ...]
    cwd: Path
    folders: tuple[Path, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Run:
    """How a tool ended. `ended_by` is None where it ended by itself; `failure` is the watcher's, where it stopped it.

    `exit_code` is negative where a signal ended it. `left` says that a process could not be killed.
    """

    exit_code: int
    ended_by: EndedBy | None
    seconds: float
    peak_memory_bytes: int
    peak_disk_bytes: int
    failure: Failure | None = None
    left: bool = False

    @property
    def peak_memory_gb(self) -> float:
        return self.peak_memory_bytes / GB


def run_tool(
    command: Command,
    folder: Path,
    limits: Limits,
    log: Path,
    on_line: Callable[[str], None],
    watcher: Watcher | None = None,
    sampling: Sampling | None = None,
) -> Run:
    """Run `command` to its end or to a limit; its output goes to `log` and, line by line, to `on_line`.

    `folder` is what it fills: what `limits.disk_gb` counts. All of its processes are dead when this returns or raises.
    """
    mark = uuid.uuid4().hex
    environment = tool_environment(os.environ, command.folders, command.settings, mark)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        left = True
        watch = _Watch(f"{MARK}={mark}", folder, limits, sampling or Sampling(), watcher)
        lines = LineReader(process.stdout, file, [on_line] if watcher is None else [on_line, watcher.line])
        try:
            _follow(process, lines, watch)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            left = not kill_marked(watch.mark)
            process.wait()
        lines.rest()
        process.stdout.close()
    return Run(
        process.returncode, watch.ended_by, watch.seconds, watch.peak_memory, watch.peak_disk, watch.failure, left
    )


def _follow(process: subprocess.Popen[bytes], lines: LineReader, watch: "_Watch") -> None:
    """Until the process ended; its children may hold its output open longer than it lives."""
    while process.poll() is None:
        lines.read(watch.until_due)
        if watch.look():
            return


class _Watch:
    """Compares a run with its limits, from sample to sample."""

    def __init__(self, mark: str, folder: Path, limits: Limits, sampling: Sampling, watcher: Watcher | None) -> None:
        self.mark, self._folder, self._limits, self._sampling, self._watcher = mark, folder, limits, sampling, watcher
        self._started = self._due = time.monotonic()
        self._disk_due = self._started + sampling.disk_s
        self.ended_by: EndedBy | None = None
        self.failure: Failure | None = None
        self.peak_memory = self.peak_disk = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def until_due(self) -> float:
        return max(0.0, self._due - time.monotonic())

    def look(self) -> bool:
        """Whether the run is over its limits, or its watcher has seen enough."""
        if self.until_due > 0:
            return False
        self._due = time.monotonic() + self._sampling.every_s
        self.peak_memory = max(self.peak_memory, memory_bytes(marked(self.mark)))
        self._measure_disk()
        self.failure = self._watcher.verdict() if self._watcher is not None else None
        self.ended_by = self._end()
        return self.ended_by is not None

    def _end(self) -> EndedBy | None:
        if self.failure is not None:
            return "stopped"
        if self.seconds > self._limits.seconds:
            return "timeout"
        if self.peak_memory > self._limits.memory_bytes:
            return "memory"
        return "disk" if self.peak_disk > self._limits.disk_bytes else None

    def _measure_disk(self) -> None:
        """Now and then: a link leaves a hundred thousand files."""
        began = time.monotonic()
        if began < self._disk_due:
            return
        self.peak_disk = max(self.peak_disk, disk_bytes(self._folder))
        took = time.monotonic() - began
        self._disk_due = time.monotonic() + max(self._sampling.disk_s, took / _DISK_SHARE)


def disk_bytes(folder: Path) -> int:
    """Bytes on disk below `folder`, links not followed."""
    return sum(stat.st_blocks * 512 for stat in _stats(folder))


def _stats(folder: Path) -> Iterator[os.stat_result]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):  # the tool deletes files as it goes
                yield os.lstat(Path(parent) / name)
