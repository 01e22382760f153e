"""The interface of what holds a build to its limits: a group of processes, of which each backend has a kind.

An executor has one group for as long as it lives, as putting a process into a group may take tens of milliseconds and a
build fewer; what the group is held to changes with each build. What is left of a build is removed after it, so that the
group is empty but for the process that waits for the next.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from worker.limits.table import Limits, Resource


@dataclass(frozen=True, slots=True)
class Counters:
    """What a group has counted so far: the difference of two is what happened in between.

    `full` counts how often its own limit of memory was reached, `killed` processes that the kernel killed for want of
    memory, the group's or the machine's, `stopped_forks` processes that could not be made, `cpu_s` seconds of processor
    time.
    """

    full: int = 0
    killed: int = 0
    stopped_forks: int = 0
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A limit that a build has reached: bytes, seconds or a number, as the resource is counted."""

    resource: Resource
    limit: float
    used: float


def is_busy(cpu_s: float, seconds: float) -> bool:
    """Whether what used so much processor time in so many seconds was computing, and did not wait for something."""
    return cpu_s > 0.5 * seconds


class Group(ABC):
    """The processes of one executor.

    Each backend promises that a process below the guard can not leave the group, by whatever it starts or becomes; that
    `exceeded` says so when a limit was reached, and of nothing else; and that `kill` ends stopped processes and those
    that ignore signals too.
    """

    @property
    @abstractmethod
    def entrance(self) -> Sequence[str]:
        """Files into which a process writes "0" to be in the group with all that it starts from then on."""

    @abstractmethod
    def hold(self, limits: Limits) -> None:
        """Hold it to these limits from now on. Raises OSError where that can not be."""

    def begin(self) -> Counters:
        """From what the use of the next job is counted."""
        return self.counters()

    @abstractmethod
    def counters(self) -> Counters:
        """What it has counted until now."""

    @abstractmethod
    def exceeded(self, limits: Limits, since: Counters) -> Exceeded | None:
        """Which of memory, processes and processor time was reached since then, None where none was."""

    @abstractmethod
    def kill(self) -> None:
        """Send SIGKILL to all that is in it now; call again while something is."""

    @abstractmethod
    def remove(self) -> None:
        """Take the group away; its processes have ended. One that is gone already is as good."""


class Backend(ABC):
    """Makes groups. `look_seconds` is how often somebody has to ask a group whether it went beyond its limits;
    `is_exact` says whether the kernel keeps it from taking more meanwhile.
    """

    name: str
    look_seconds: float
    is_exact: bool = True

    @abstractmethod
    def open(self, guard: int) -> Group:
        """A group for what is started below the process `guard`, which itself stays outside. Raises OSError."""

    @abstractmethod
    def sweep(self) -> None:
        """Remove groups that workers of this machine have left which were killed."""
