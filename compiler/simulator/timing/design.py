"""What of a design the timing simulator needs: tasks with their timing, their transfers, FIFOs.

From a TaskGraph here, from `dataflow.json` in `design_json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.transfers import run_length
from compiler.graph.task_graph import Access, DmaTask, Stream, Task, TaskGraph, TaskKind, TimingSpec
from compiler.platforms.platform import Platform


@dataclass(frozen=True, slots=True)
class Transfer:
    """How a load or store uses HBM: `ports` side by side that all move the same number of words.

    `tokens_per_word` or `words_per_token` is 1. `run` counts the iterations of the task from one jump of the address to
    the next, None where it never jumps. `channels` are those of the ports; more than `ports` of them: the memory of a
    port lies over several. None are known where it is empty: each port has one of its own.
    """

    ports: int
    tokens_per_word: int
    words_per_token: int
    run: int | None
    channels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TimedTask:
    """One dataflow process. `transfer` of a load or a store only."""

    name: str
    kind: TaskKind
    kernel: int
    timing: TimingSpec
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    transfer: Transfer | None = None

    @property
    def words(self) -> int:
        """Words that each port of its transfer moves, re-reads included."""
        return -(-self.timing.iterations // self.transfer.tokens_per_word) if self.transfer is not None else 0


@dataclass(frozen=True, slots=True)
class TimedStream:
    """A FIFO of `depth` tokens, and why it has that depth."""

    name: str
    source: str
    target: str
    depth: int
    reason: str = ""


@dataclass(frozen=True)
class TimedDesign:
    """Tasks in topological order, kernels in the order in which they run."""

    name: str
    kernels: int
    tasks: tuple[TimedTask, ...]
    streams: tuple[TimedStream, ...]

    @cached_property
    def task(self) -> dict[str, TimedTask]:
        return {t.name: t for t in self.tasks}

    def with_timing(self, specs: Mapping[str, TimingSpec]) -> "TimedDesign":
        """The design with the timing of some tasks, by name, replaced."""
        tasks = tuple(replace(t, timing=specs.get(t.name, t.timing)) for t in self.tasks)
        return replace(self, tasks=tasks)


def timed_design(
    tasks: TaskGraph, platform: Platform, channels: Mapping[str, Sequence[int]] | None = None
) -> TimedDesign:
    """The design of a TaskGraph; `channels` of its transfers, None: as the compiler assigns them."""
    assigned = assign_channels(tasks.transfers, platform) if channels is None else channels
    timed = tuple(_timed_task(t, tuple(assigned.get(t.name, ()))) for t in tasks.tasks)
    return TimedDesign(tasks.name, tasks.kernels, timed, tuple(map(_timed_stream, tasks.streams)))


def _timed_task(task: Task, channels: tuple[int, ...]) -> TimedTask:
    transfer = None
    if isinstance(task, DmaTask):
        dma = task.dma
        transfer = Transfer(dma.channels, dma.tokens_per_word, dma.words_per_token, run_length(task), channels)
    return TimedTask(task.name, task.kind, task.kernel, task.timing, task.reads, task.writes, transfer)


def _timed_stream(stream: Stream) -> TimedStream:
    return TimedStream(stream.name, stream.source, stream.target, stream.depth, stream.reason)
