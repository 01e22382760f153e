"""Which backend holds builds to their limits on this machine, and why not a better one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from worker.limits.cgroup_v1 import CgroupV1Backend
from worker.limits.cgroup_v2 import CgroupV2Backend
from worker.limits.group import Backend
from worker.limits.watched import WatchedBackend


@dataclass(frozen=True, slots=True)
class Choice:
    """`why_not` says of each better backend what it lacks here."""

    backend: Backend
    why_not: Mapping[str, str]


@cache
def choose(cgroups: bool = True) -> Choice:
    """The best that works here, without control groups if the operator wants none. Makes one, to see whether it may."""
    if not cgroups:
        return Choice(WatchedBackend(), dict.fromkeys(("cgroup v2", "cgroup v1"), "MILLRACE_CGROUPS is off"))
    why_not: dict[str, str] = {}
    for backend in (CgroupV2Backend(), CgroupV1Backend()):
        if backend.why_not is None:
            return Choice(backend, why_not)
        why_not[backend.name] = backend.why_not
    return Choice(WatchedBackend(), why_not)
