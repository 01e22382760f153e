"""What the two versions of Linux control groups share: folders that the kernel makes files in."""

import os
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.limits.group import Counters, Exceeded, Group
from worker.limits.table import Limits
from worker.process_tree import kill_all
from worker.processes import is_running, start_of

_PREFIX = "millrace-"
_EMPTY_SECONDS = 5.0
_ROUND_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Cgroup(Group):
    """A group with a folder in each hierarchy: `folders` by controller."""

    folders: Mapping[str, Path]

    @abstractmethod
    def _values(self, limits: Limits) -> Iterator[tuple[Path, str]]:
        """What is written where."""

    @property
    def entrance(self) -> Sequence[str]:
        return [str(folder / "cgroup.procs") for folder in self._distinct()]

    def make(self) -> None:
        """Make the folders, all or none. Raises OSError."""
        try:
            for folder in self._distinct():
                folder.mkdir(exist_ok=True)
        except OSError:
            self.remove()
            raise

    def hold(self, limits: Limits) -> None:
        for file, value in self._values(limits):
            file.write_text(value)

    def exceeded(self, limits: Limits, since: Counters) -> Exceeded | None:
        now = self.counters()
        if now.killed > since.killed and now.full > since.full:
            return Exceeded("memory", limits.memory_bytes, limits.memory_bytes)
        if now.stopped_forks > since.stopped_forks:
            return Exceeded("processes", limits.processes, limits.processes)
        used = now.cpu_s - since.cpu_s
        return Exceeded("processor time", limits.cpu_s, used) if used > limits.cpu_s else None

    def kill(self) -> None:
        kill_all(self._pids())

    def remove(self) -> None:
        until = time.monotonic() + _EMPTY_SECONDS
        for folder in self._distinct():
            while not _removed(folder) and time.monotonic() < until:
                time.sleep(_ROUND_SECONDS)  # its last processes are being buried

    def _distinct(self) -> list[Path]:
        return list(dict.fromkeys(self.folders.values()))

    def _pids(self) -> list[int]:
        with suppress(OSError):
            return [int(line) for line in (self._distinct()[0] / "cgroup.procs").read_text().split()]
        return []


def name_of(guard: int) -> str:
    """A group's name: of this process, so that others can tell when nobody is left to remove it."""
    return f"{_ours()}{os.getpid()}-{start_of(os.getpid())}-{guard}"


def sweep(parent: Path) -> None:
    """Remove the groups below `parent` whose makers have ended: those of this namespace, for a process of a container
    that shares the folder has a number that means another one here.
    """
    for folder in parent.glob(f"{_ours()}*-*-*"):
        pid, started, _ = folder.name.removeprefix(_ours()).split("-")
        if pid.isdigit() and not is_running(int(pid), started):
            _removed(folder)


def _ours() -> str:
    """How names begin in this namespace of processes."""
    return f"{_PREFIX}{Path('/proc/self/ns/pid').stat().st_ino}-"


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def field(file: Path, name: str) -> int:
    """The number behind `name` in a file of lines of the two; 0 where it is not there."""
    for line in file.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def why_not_writable(folder: Path) -> str | None:
    """Why no group can be made in `folder`; None where one can."""
    probe = folder / f"{_PREFIX}probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        return f"no group can be made in {folder}: {error.strerror}"
    return None
