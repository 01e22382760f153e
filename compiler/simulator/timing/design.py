"""What of a design the timing simulator needs: tasks with their timing, their transfers, FIFOs.

From a TaskGraph here, from `dataflow.json` in `design_json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.transfers import run_length
from compiler.errors import InvalidInputError
from compiler.graph.memory_order import CreditStream, Hazard, MemoryUse, hazards
from compiler.graph.program import Access, Argument, Program, Repeat, Values, arguments_of, iterations, program_at, runs
from compiler.graph.task_graph import DmaTask, Stream, Task, TaskGraph, TaskKind, TimingSpec
from compiler.platforms.platform import Platform


@dataclass(frozen=True, slots=True)
class Transfer:
    """How a load or store uses HBM: `ports` side by side that all move the same number of words.

    `tokens_per_word` or `words_per_token` is 1. `run` counts the iterations of the task from one jump of the address to
    the next, None where it never jumps. `channels` are those of the ports; more than `ports` of them: the memory of a
    port lies over several. None are known where it is empty: each port has one of its own. `value` is what lies in the
    memory, `again` says of each loop of a nest whether it reads again (`compiler.graph.memory_order`).
    """

    ports: int
    tokens_per_word: int
    words_per_token: int
    run: int | None
    channels: tuple[int, ...] = ()
    value: str = ""
    again: tuple[bool, ...] = ()


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
    turns: Program = ()

    @property
    def program(self) -> Program:
        """What it runs, whichever way that is written."""
        return self.turns or (self.timing.nest(self.reads, self.writes),)

    @property
    def credits(self) -> tuple[Access, ...]:
        """Streams of credits that a store sends, or a load takes."""
        return {"load": self.reads, "store": self.writes}.get(self.kind, ())

    @property
    def words(self) -> int:
        """Words that each port of its transfer moves, re-reads included."""
        return -(-iterations(self.program) // self.transfer.tokens_per_word) if self.transfer is not None else 0

    @property
    def cycles(self) -> int:
        """From its first iteration to its last and their interval, when nothing blocks."""
        timing, moved, started = self.timing, iterations(self.program), runs(self.program)
        return (moved - started + 1) * timing.ii + (started - 1) * (timing.depth + timing.gap) if moved else 0

    def at(self, launches: Sequence[Values]) -> "TimedTask":
        """What it does for launches that follow each other without a gap, without arguments."""
        runs = [(program_at(self.program, values), values) for values in launches]
        same = [(program, len(list(group))) for program, group in groupby(program for program, _ in runs)]
        turns = tuple(part for program, times in same for part in ((Repeat(times, program),) if times > 1 else program))
        return replace(self, timing=replace(self.timing, trips=(), restarts=0, bounds=()), turns=turns)


@dataclass(frozen=True, slots=True)
class TimedStream:
    """A FIFO of `depth` tokens, and why it has that depth; the first `initial` ones are there before cycle 0."""

    name: str
    source: str
    target: str
    depth: int
    reason: str = ""
    initial: int = 0
    feedback: bool = False


@dataclass(frozen=True)
class TimedDesign:
    """Tasks in topological order but for feedback streams, kernels in the order in which they run."""

    name: str
    kernels: int
    tasks: tuple[TimedTask, ...]
    streams: tuple[TimedStream, ...]

    @cached_property
    def task(self) -> dict[str, TimedTask]:
        return {t.name: t for t in self.tasks}

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """Loads that may read what a store has not written yet."""
        uses = (
            MemoryUse(t.name, t.kernel, t.transfer.value, t.kind == "store", t.program, t.transfer.again)
            for t in self.tasks
            if t.transfer is not None and t.transfer.value
        )
        return tuple(hazards(uses, [CreditStream(s.name, s.source, s.target, s.initial) for s in self.streams]))

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """That trip counts follow, by name."""
        return {argument.name: argument for argument in arguments_of(task.program for task in self.tasks)}

    def at(self, launches: Sequence[Values]) -> "TimedDesign":
        """The design for launches with these arguments, one after the other. Raises InvalidInputError for an argument
        that it does not have, or a value that it can not take.
        """
        for name in (name for values in launches for name in values):
            if name not in self.arguments:
                known = ", ".join(self.arguments) or "none"
                raise InvalidInputError(f"{self.name} has no argument {name}; those that it has: {known}")
        if len(launches) == 1 and not self.arguments:
            return self
        return replace(self, tasks=tuple(task.at(launches) for task in self.tasks))

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
        dma, use = task.dma, task.memory_use
        packing = dma.channels, dma.tokens_per_word, dma.words_per_token
        transfer = Transfer(*packing, run_length(task), channels, use.value, use.again)
    ports = task.reads, task.writes
    return TimedTask(task.name, task.kind, task.kernel, task.timing, *ports, transfer, task.turns)


def _timed_stream(stream: Stream) -> TimedStream:
    ends = stream.source, stream.target
    return TimedStream(stream.name, *ends, stream.depth, stream.reason, stream.initial, stream.feedback)
