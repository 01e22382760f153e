"""Ways in which the C simulation of a design fails, with what the run reported."""

from dataclasses import dataclass
from typing import Literal

from compiler.errors import MillraceError, ToolError


@dataclass(frozen=True, slots=True)
class BlockedTask:
    """A task that waits on `stream`, which holds `size` of `depth` tokens.

    `waits_for` is the task at the other end, None where there is none; `finished` whether that one has ended.
    """

    task: str
    stream: str
    state: Literal["empty", "full"]
    size: int
    depth: int
    waits_for: str | None
    finished: bool


class DeadlockError(MillraceError):
    """No task could run. `cycle` names the tasks that wait for one another; empty where one waits for an ended task."""

    def __init__(self, message: str, tasks: tuple[BlockedTask, ...], cycle: tuple[str, ...]) -> None:
        super().__init__(message)
        self.tasks = tasks
        self.cycle = cycle

    @property
    def streams(self) -> tuple[str, ...]:
        """Full streams of the cycle: a larger depth of one of them breaks it."""
        return tuple(t.stream for t in self.tasks if t.task in self.cycle and t.state == "full")


@dataclass(frozen=True, slots=True)
class UnreadStream:
    """A stream that held `size` of its `written` tokens when its `tasks` had ended."""

    stream: str
    size: int
    written: int
    depth: int
    tasks: tuple[str, ...]


class LeftoverError(MillraceError):
    """All tasks ended but not all tokens were read: writer and reader disagree on their number."""

    def __init__(self, message: str, streams: tuple[UnreadStream, ...]) -> None:
        super().__init__(message)
        self.streams = streams


class TaskFaultError(MillraceError):
    """A task crashed or broke a rule of the stand-in headers (access outside a memory, range outside an integer)."""

    def __init__(self, message: str, task: str) -> None:
        super().__init__(message)
        self.task = task


class SimulationTimeoutError(ToolError):
    """The run was killed because it passed its time or memory limit."""
