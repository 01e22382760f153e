"""What this process may use of its machine: memory and processors, those of the container where it runs in one."""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
V2 = ""
"""What `own_group` calls the one hierarchy of cgroup v2."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Bytes of memory, and processors, parts of one included."""

    memory_bytes: int
    cpus: float


def find_machine(root: Path = ROOT) -> Machine:
    """The machine's own figures, or those of the narrowest control group around this process, or of its RLIMIT_RSS:
    no kernel keeps to that one, but it tells a process and those that it starts what they have been given. Takes 1 ms.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    given, _ = resource.getrlimit(resource.RLIMIT_RSS)
    memory = memory if given == resource.RLIM_INFINITY else min(memory, given)
    cpus = float(len(os.sched_getaffinity(0)))
    for group in _around(V2, root):
        memory = min([memory, *_integers(group / "memory.max")])
        cpus = min([cpus, *_quota(_words(group / "cpu.max"))])
    for group in _around("memory", root):
        memory = min([memory, *_integers(group / "memory.limit_in_bytes")])
    for group in _around("cpu", root):
        cpus = min([cpus, *_quota([*_words(group / "cpu.cfs_quota_us"), *_words(group / "cpu.cfs_period_us")])])
    return Machine(memory, cpus)


def most_jobs(bytes_each: int, root: Path = ROOT) -> int:
    """How many processes that take so much memory can compute at a time, at least one."""
    machine = find_machine(root)
    return max(1, min(int(machine.cpus), machine.memory_bytes // bytes_each))


def own_group(controller: str, root: Path = ROOT) -> Path | None:
    """The folder of this process's control group under a controller of cgroup v1, or of v2; None where it has none."""
    paths = dict(_memberships(root))
    for line in lines_of(root / "proc/self/mountinfo"):
        mount, _, source = line.partition(" - ")
        kind, _, options = source.split(" ", 2)
        is_it = kind == "cgroup2" if controller == V2 else kind == "cgroup" and controller in options.split(",")
        if is_it and controller in paths:
            above, point = mount.split(" ")[3:5]
            return _inside(root / point.lstrip("/"), above, paths[controller])
    return None


def _inside(point: Path, above: str, path: str) -> Path:
    """Where the group `path` is below a mount that shows `above` and what is below it: a container sees its own."""
    below = path.removeprefix(above.rstrip("/")) if path.startswith(above) else path
    found = point / below.strip("/")
    return found if found.is_dir() else point


def _around(controller: str, root: Path) -> Iterator[Path]:
    """Our group and those that it is in."""
    group = own_group(controller, root)
    while group is not None and (group / "cgroup.procs").exists():
        yield group
        group = group.parent


def _memberships(root: Path) -> Iterator[tuple[str, str]]:
    for line in lines_of(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path


def _integers(file: Path) -> list[int]:
    return [int(word) for word in _words(file) if word.isdigit()]


def _quota(words: list[str]) -> list[float]:
    """Processors that a quota and its period, both in us, stand for; none where it is unlimited."""
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return []
    return [int(words[0]) / int(words[1])]


def _words(file: Path) -> list[str]:
    return " ".join(lines_of(file)).split()


def lines_of(file: Path) -> list[str]:
    """Of a file that the kernel makes; none where it makes none: no Linux, a root group, which has no limits, or a
    process that has ended.
    """
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
