"""The limits of builds as one table: what each stage asks of a node, and is held to (docs/limits.md).

What a build asks for is kept free for it on its node, and is all that it gets: a build that needs more is ended, and
says what it needed. The operator's figures (`MILLRACE_REQUESTS`) go before the table's, and those of one build before
both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, Self

from compiler.machine import Machine, find_machine

if TYPE_CHECKING:  # an executor that knows its limits needs neither
    from db.models import Build, Stage
    from worker.settings import Settings

GB = 1 << 30
_HOUR = 3600.0

Resource = Literal["memory", "processor time", "time", "processes", "disk", "files"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one build, all of its processes together.

    `cpus` is its share of the processors where others want them too; `memory_gb` (of 2**30 bytes) counts what is in
    /dev/shm; `timeout_s` are seconds on the clock, `cpu_s` those of processors; `processes` counts threads; `disk_gb`
    and `files` are what lies in its scratch folder at one time.
    """

    cpus: float
    memory_gb: float
    timeout_s: float
    cpu_s: float
    processes: int
    disk_gb: float
    files: int

    @property
    def memory_bytes(self) -> int:
        return int(self.memory_gb * GB)

    @property
    def disk_bytes(self) -> int:
        return int(self.disk_gb * GB)

    def within(self, machine: Machine) -> Self:
        """With no more memory than there is."""
        return replace(self, memory_gb=min(self.memory_gb, machine.memory_bytes / GB))


_TABLE: Mapping["Stage", Limits] = {
    # CPUs, GB of memory, seconds, seconds of processors, processes, GB of disk, files
    "lower":     Limits(1.0, 4.0, 300.0, 1200.0, 1024, 40.0, 10_000),
    "search":    Limits(1.0, 4.0, 24 * _HOUR, 1000 * _HOUR, 4096, 10.0, 100_000),
    "simulate":  Limits(1.0, 1.0, 0.5 * _HOUR, 2 * _HOUR, 1024, 10.0, 100_000),
    "csim":      Limits(1.0, 4.0, 2 * _HOUR, 32 * _HOUR, 1024, 40.0, 100_000),
    "csynth":    Limits(1.0, 8.0, 6 * _HOUR, 48 * _HOUR, 4096, 100.0, 1_000_000),
    "cosim":     Limits(1.0, 12.0, 24 * _HOUR, 200 * _HOUR, 4096, 100.0, 1_000_000),
    "link":      Limits(4.0, 40.0, 24 * _HOUR, 400 * _HOUR, 4096, 200.0, 1_000_000),
    "measure":   Limits(1.0, 2.0, _HOUR, 16 * _HOUR, 1024, 40.0, 100_000),
    "calibrate": Limits(1.0, 1.0, _HOUR, 4 * _HOUR, 1024, 10.0, 100_000),
}  # fmt: skip
_SCALED: frozenset["Stage"] = frozenset({"lower", "search", "csim"})
"""Stages that do well with less where there is less."""
_OFFERED = 0.9
NAMES = frozenset(field.name for field in fields(Limits))
"""What `MILLRACE_REQUESTS` may name of a stage."""


def offered_gb(settings: "Settings") -> float:
    """GB of memory that this node has for builds."""
    return settings.memory_gb or _OFFERED * _machine().memory_bytes / GB


@cache
def _machine() -> Machine:
    return find_machine()


_machine()  # as this is loaded, before any executor is forked: a job sees no more of the machine than its own limits


def limits_of(stage: "Stage", settings: "Settings") -> Limits:
    """The table's figures with the operator's over them."""
    table = _TABLE[stage]
    if stage in _SCALED and settings.database_url is None:  # this machine is all of the farm
        table = replace(table, memory_gb=min(table.memory_gb, offered_gb(settings)))
    ours = {name: value for name, value in settings.requests.get(stage, {}).items() if name in NAMES}
    return replace(table, **{name: type(getattr(table, name))(value) for name, value in ours.items()})


def limits_of_build(build: "Build", settings: "Settings") -> Limits:
    """Those of its stage, with what the build itself has asked for over them."""
    limits = limits_of(build.stage, settings)
    return replace(
        limits,
        cpus=build.cpus or limits.cpus,
        memory_gb=build.memory_gb or limits.memory_gb,
        timeout_s=build.timeout_s or limits.timeout_s,
    )
