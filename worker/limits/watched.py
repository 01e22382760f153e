"""Without control groups: somebody looks often at what the processes of a build use. It needs no right.

The kernel stops nothing, so a build may be beyond its limit for the time between two looks: 0.1 s, in which it may fill
some 0.2 GB.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.machine import lines_of
from worker.limits.group import Backend, Counters, Exceeded, Group
from worker.limits.shared_memory import private_shm_bytes
from worker.limits.table import Limits
from worker.process_tree import ProcessStat, below, descendants, kill_all, processes

_RECENT_SECONDS = 0.03


@dataclass(slots=True)
class WatchedGroup(Group):
    """All processes below `guard`, which adopts those whose parents end."""

    guard: int
    _base: float | None = None
    """Processor time at the first look at a job: a look at every job's beginning would take longer than most jobs."""

    @property
    def entrance(self) -> Sequence[str]:
        return ()

    def hold(self, limits: Limits) -> None:
        """Nothing holds it but who looks."""

    def begin(self) -> Counters:
        self._base = None
        return Counters()

    def counters(self) -> Counters:
        return Counters(cpu_s=self._seconds(processes()))

    def exceeded(self, limits: Limits, since: Counters) -> Exceeded | None:
        known = _recent()
        pids = below(self.guard, known)
        threads = sum(known[pid].threads for pid in pids)
        if threads >= limits.processes:
            return Exceeded("processes", limits.processes, threads)
        used = self._seconds(known) - since.cpu_s
        if used > limits.cpu_s:
            return Exceeded("processor time", limits.cpu_s, used)
        memory = _memory(pids, known, limits.memory_bytes)
        return Exceeded("memory", limits.memory_bytes, memory) if memory > limits.memory_bytes else None

    def kill(self) -> None:
        kill_all(descendants(self.guard))

    def remove(self) -> None:
        """There is nothing but its processes."""

    def _seconds(self, known: Mapping[int, ProcessStat]) -> float:
        """Processor time, since the first look, of all that lives below the guard and of what was waited for."""
        if self.guard not in known:
            return 0.0
        living = sum(known[pid].seconds + known[pid].children_seconds for pid in below(self.guard, known))
        total = living + known[self.guard].children_seconds
        if self._base is None:
            self._base = total
        return total - self._base


class WatchedBackend(Backend):
    """Always there."""

    name = "watchdog"
    look_seconds = 0.1
    is_exact = False

    def open(self, guard: int) -> WatchedGroup:
        return WatchedGroup(guard)

    def sweep(self) -> None:
        """It leaves nothing."""


def _recent() -> Mapping[int, ProcessStat]:
    """The processes of this machine, read once for all groups that are looked at together."""
    global _read_at, _read
    if time.monotonic() - _read_at > _RECENT_SECONDS:
        _read_at, _read = time.monotonic(), processes()
    return _read


_read_at: float = float("-inf")
_read: Mapping[int, ProcessStat] = {}


def _memory(pids: Sequence[int], known: Mapping[int, ProcessStat], enough: int) -> int:
    """Bytes that the processes use: what they share counts once, and what is in their /dev/shm whoever has it open.

    Where a sum that counts shared memory several times is not above `enough`, that sum: it costs a hundredth.
    """
    shm = private_shm_bytes(pids[0]) if pids else 0  # the executor's own, see `shared_memory`
    rough = shm + sum(known[pid].resident for pid in pids)
    if rough <= enough:
        return rough
    private, shared = 0, 0
    for pid in pids:
        found = dict(_rollup(pid))
        private += found.get("Pss_Anon", 0)
        shared += found.get("Pss_Shmem", 0)
    return private + max(shared, shm)


def _rollup(pid: int) -> Iterator[tuple[str, int]]:
    """Sums of a process's memory in bytes, its part of what several share."""
    for line in lines_of(Path(f"/proc/{pid}/smaps_rollup"))[1:]:
        name, _, value = line.partition(":")
        yield name, int(value.split()[0]) << 10
