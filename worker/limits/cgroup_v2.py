"""Control groups of version 2: one hierarchy, in which a group that was delegated to us is ours to divide."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from compiler.machine import ROOT, V2, own_group
from worker.limits.cgroup import Cgroup, field, name_of, sweep, why_not_writable
from worker.limits.group import Backend, Counters
from worker.limits.table import Limits

_NEEDED = frozenset({"memory", "pids"})
_WANTED = _NEEDED | {"cpu"}
_OURS = "millrace-service"
"""The group that our own processes move to: one that has groups below it may hold none itself."""
_WEIGHT_A_CPU, _MOST_WEIGHT = 100, 10_000


@dataclass(frozen=True, slots=True)
class CgroupV2(Cgroup):
    """`folders` has one, of no controller."""

    def counters(self) -> Counters:
        folder = self.folders[V2]
        return Counters(
            full=field(folder / "memory.events", "oom"),
            killed=field(folder / "memory.events", "oom_kill"),
            stopped_forks=field(folder / "pids.events", "max"),
            cpu_s=field(folder / "cpu.stat", "usage_usec") / 1e6,
        )

    def kill(self) -> None:
        try:
            (self.folders[V2] / "cgroup.kill").write_text("1")
        except OSError:  # before Linux 5.14 there is none
            super(CgroupV2, self).kill()

    def _values(self, limits: Limits) -> Iterator[tuple[Path, str]]:
        folder = self.folders[V2]
        yield folder / "memory.max", str(limits.memory_bytes)
        if (folder / "memory.swap.max").exists():
            yield folder / "memory.swap.max", "0"
        if (folder / "memory.oom.group").exists():
            yield folder / "memory.oom.group", "1"
        yield folder / "pids.max", str(limits.processes)
        if (folder / "cpu.weight").exists():
            weight = min(_MOST_WEIGHT, max(1, int(limits.cpus * _WEIGHT_A_CPU)))
            yield folder / "cpu.weight", str(weight)


class CgroupV2Backend(Backend):
    """`why_not` says what it lacks here, None where it works. Opening a group moves our processes to another."""

    name = "cgroup v2"
    look_seconds = 0.25

    def __init__(self, root: Path = ROOT) -> None:
        own = own_group(V2, root)
        self._parent = own.parent if own is not None and own.name == _OURS else own
        self.why_not = self._why_not()

    def open(self, guard: int) -> CgroupV2:
        assert self._parent is not None
        self._divide(self._parent)
        group = CgroupV2({V2: self._parent / name_of(guard)})
        group.make()
        return group

    def sweep(self) -> None:
        if self._parent is not None:
            sweep(self._parent)

    def _why_not(self) -> str | None:
        folder = self._parent
        if folder is None:
            return "it is not mounted"
        has = set((folder / "cgroup.controllers").read_text().split())
        if not has >= _NEEDED:
            return f"{folder} has no controller {', '.join(sorted(_NEEDED - has))}"
        if not _is_delegated(folder):
            return f"{folder} is not ours to divide: run Millrace as a systemd service with Delegate=yes"
        return why_not_writable(folder)

    def _divide(self, parent: Path) -> None:
        """Let groups below `parent` be limited: its own processes, ourselves among them, move out of the way."""
        wanted = _WANTED & set((parent / "cgroup.controllers").read_text().split())
        given = set((parent / "cgroup.subtree_control").read_text().split())
        if wanted <= given:
            return
        ours = parent / _OURS
        ours.mkdir(exist_ok=True)
        for pid in (parent / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (ours / "cgroup.procs").write_text(pid)
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))


def _is_delegated(folder: Path) -> bool:
    """Whether the group is for us to divide: systemd has marked it so, or it is the top that a container sees."""
    for name in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return not (folder.parent / "cgroup.controllers").exists() and (folder / "cgroup.type").exists()
