"""Control groups of version 1, as older systems have them: a hierarchy of folders for each controller."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler.machine import ROOT, own_group
from worker.limits.cgroup import Cgroup, field, name_of, sweep, why_not_writable
from worker.limits.group import Backend, Counters
from worker.limits.table import Limits

_NEEDED = ("pids", "memory", "cpuacct")
_LIMIT, _SWAP_LIMIT = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
_PEAK = "memory.max_usage_in_bytes"
_SHARES_A_CPU = 1024


@dataclass(frozen=True, slots=True)
class CgroupV1(Cgroup):
    """`folders` has those of `_NEEDED`, and "cpu" where processors are shared by it."""

    def begin(self) -> Counters:
        (self.folders["memory"] / _PEAK).write_text("0")
        return self._counted(full=0)

    def counters(self) -> Counters:
        limit, peak = (int((self.folders["memory"] / name).read_text()) for name in (_LIMIT, _PEAK))
        return self._counted(full=int(peak >= limit))  # memory.failcnt stays 0 in new kernels

    def _counted(self, full: int) -> Counters:
        return Counters(
            full=full,
            killed=field(self.folders["memory"] / "memory.oom_control", "oom_kill"),
            stopped_forks=field(self.folders["pids"] / "pids.events", "max"),
            cpu_s=int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9,
        )

    def _values(self, limits: Limits) -> Iterator[tuple[Path, str]]:
        memory, swap = (self.folders["memory"] / name for name in (_LIMIT, _SWAP_LIMIT))
        if swap.exists():
            yield swap, "-1"  # never below the next, which the kernel refuses
        yield memory, str(limits.memory_bytes)
        if swap.exists():
            yield swap, str(limits.memory_bytes)
        yield self.folders["pids"] / "pids.max", str(limits.processes)
        if "cpu" in self.folders:
            yield self.folders["cpu"] / "cpu.shares", str(max(2, int(limits.cpus * _SHARES_A_CPU)))


class CgroupV1Backend(Backend):
    """`why_not` says what it lacks here, None where it works."""

    name = "cgroup v1"
    look_seconds = 0.25

    def __init__(self, root: Path = ROOT) -> None:
        found = {name: own_group(name, root) for name in (*_NEEDED, "cpu")}
        self._parents = {name: folder for name, folder in found.items() if folder is not None}
        self.why_not = self._why_not()

    def open(self, guard: int) -> CgroupV1:
        group = CgroupV1({name: folder / name_of(guard) for name, folder in self._parents.items()})
        group.make()
        return group

    def sweep(self) -> None:
        for folder in self._parents.values():
            sweep(folder)

    def _why_not(self) -> str | None:
        lacking = [name for name in _NEEDED if name not in self._parents]
        if lacking:
            return f"no controller {', '.join(lacking)} is mounted"
        if "cpu" in self._parents and why_not_writable(self._parents["cpu"]) is not None:
            del self._parents["cpu"]
        return next(filter(None, (why_not_writable(self._parents[name]) for name in _NEEDED)), None)
