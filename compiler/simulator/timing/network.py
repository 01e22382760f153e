"""What the timing simulator executes: processes, each a program of pipelined loop nests, and the FIFOs between them.

The machine, cycle by cycle. `stored` of a FIFO in cycle t is its `initial` tokens and what was written before t, less
what was read before t. A read in t needs `stored` >= 1, a write in t needs `stored` < `depth`: both ends are
registered, as in the FIFOs of HLS. FIFOs may close cycles, from a process to itself too; processes are in no particular
order.

A program is nests in turn, and each nest is runs of the pipeline in turn: one for each iteration of its outer
`restarts` loops. All of them run through the same pipeline, whose iterations are numbered from 0 on through the whole
program.

A *flushable* process (`style` flp or frp) lets each iteration that has entered go on. In each cycle, in this order:

1. the oldest iteration inside leaves if it entered at least `latency - 1` cycles ago and all its writes find room;
   at most one leaves;
2. the next iteration enters if its turn has come, fewer than `slots` are inside, and all its reads find a token.

Iterations enter `ii / per` cycles apart: with r the turn of an iteration in 1/`per` cycles, 0 for the first, it may
enter from cycle ceil(r / per) on. The turn of the next is r + ii if it entered in that very cycle, and `per` times the
cycle in which it did + ii otherwise.

A *stalling* process (`style` stp) is one shift register: step k of it takes in iteration k / ii where ii divides k,
and lets out the iteration that was taken in `latency - 1` steps ago. A step happens in a cycle if all reads and writes
of it find a token and room; otherwise the whole process waits. `per` is 1.

Between two runs, be they of one nest or of two, a pipeline ends and starts anew. With `drains`, the turn of a run's
first iteration is no earlier than `gap / per` cycles after the cycle that follows the last leaving of the run before (a
stalling process: its first step, after the last step). Without, which only flushable ones can be, `gap / per` cycles
are added to the turn of its first iteration. A run of no iterations costs a `gap` and nothing else: with n of them
before it the `gap` of the next run with iterations counts n + 1 times, that of the program's first such run, which has
none otherwise, n times. Behind the last iteration of a program they cost nothing, and a program without any iteration
is finished before cycle 0.
"""

from dataclasses import dataclass, field

from compiler.errors import VerificationError
from compiler.graph.program import Access, LoopNest, Program, Repeat, iterations
from compiler.graph.task_graph import PipelineStyle


@dataclass(frozen=True, slots=True)
class Process:
    """One pipeline, and the nests that it runs in turn. `latency` counts the cycles from reading to writing, both
    included.

    A process without reads, or without writes, is an end of the network.
    """

    name: str
    program: Program
    ii: int
    latency: int
    style: PipelineStyle = "flp"
    per: int = 1
    gap: int = 0
    drains: bool = True

    def __post_init__(self) -> None:
        stalls = self.style == "stp"
        if min(self.ii, self.per) < 1 or self.gap < 0 or not _is_valid(self.program):
            raise VerificationError(
                f"process {self.name} has no timing: ii and per must be at least 1, trips and times at least 0"
            )
        if stalls and (self.per != 1 or not self.drains or self.latency < 1):
            raise VerificationError(f"stalling process {self.name} needs per 1, drains and a latency of at least 1")
        if not stalls and self.latency < 2:
            raise VerificationError(f"flushable process {self.name} needs a latency of at least 2: a read and a write")
        if self.ii < self.per:
            raise VerificationError(f"process {self.name} would start several iterations in one cycle")

    @classmethod
    def of_nest(
        cls,
        name: str,
        trips: tuple[int, ...],
        ii: int,
        latency: int,
        reads: tuple[Access, ...],
        writes: tuple[Access, ...],
        style: PipelineStyle = "flp",
        *,
        per: int = 1,
        restarts: int = 0,
        gap: int = 0,
        drains: bool = True,
    ) -> "Process":
        """A process that runs one nest."""
        return cls(name, (LoopNest(trips, reads, writes, restarts),), ii, latency, style, per, gap, drains)

    @property
    def iterations(self) -> int:
        return iterations(self.program)

    @property
    def slots(self) -> int:
        """Iterations that a flushable process holds at most."""
        return max(1, -(-(self.latency - 1) * self.per // self.ii))


def _is_valid(program: Program) -> bool:
    return all(
        part.times >= 0 and _is_valid(part.body)
        if isinstance(part, Repeat)
        else min(part.trips, default=0) >= 0 and 0 <= part.restarts <= len(part.trips)
        for part in program
    )


@dataclass(frozen=True, slots=True)
class Fifo:
    """A FIFO from one process to another, or to itself, that holds `depth` tokens, None: any number; the first
    `initial` ones are there before cycle 0.
    """

    name: str
    source: str
    target: str
    depth: int | None
    initial: int = 0

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 1:
            raise VerificationError(f"FIFO {self.name} holds {self.depth} tokens; it must hold at least 1")
        if self.initial < 0 or (self.depth is not None and self.initial > self.depth):
            raise VerificationError(f"FIFO {self.name} holds {self.depth} tokens; it can not begin with {self.initial}")


@dataclass(frozen=True, slots=True)
class Network:
    """Processes and FIFOs; every access names a FIFO of which its process is an end."""

    processes: tuple[Process, ...]
    fifos: tuple[Fifo, ...]


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """What a process did. `start` is the cycle of its first entry (-1: none), `end` the one after its last leaving.

    `empty` and `full` count the cycles in which it could have gone on but for a FIFO: `empty` where a FIFO that it must
    read had no token, `full` where all had one but it had no room. For a flushable process that is its entry: its turn
    has come, and its slots are all taken in the `full` cycles; for a stalling one any step.
    """

    name: str
    iterations: int
    start: int
    end: int
    empty: int
    full: int


@dataclass(frozen=True, slots=True)
class FifoRun:
    """What passed a FIFO: `pushed` by its source, `popped` by its target, so that it holds `initial` + `pushed` -
    `popped` in the end. `peak` is the most tokens that it held: initial or written, and not read before the same cycle.

    `empty` counts the cycles in which its reader could have gone on but for some FIFO and this one had no token, `full`
    those in which the iteration that leaves next was done (its `latency - 1` cycles were over and the one before had
    left in an earlier cycle), or the step was due, and this one had no room.
    """

    name: str
    pushed: int
    popped: int
    peak: int
    empty: int
    full: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """`empty` and `full` cycles of each process, by equal parts of time that are `width` cycles long."""

    width: int
    empty: tuple[tuple[float, ...], ...]
    full: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a network: `cycles` until the last event, that of the deadlock if it is one. An event is an entry, a
    leaving, or a step.

    `stopped`: it was not finished after the given limit of cycles. All counts are of the cycles before `cycles`.
    `tokens` were read in all; the run was simulated in `windows`, and `skipped` cycles of it were repetitions. `work`
    is what the simulator did for it, in cycles of the network walked token by token: it tracks time, but is the same
    everywhere.
    """

    cycles: int
    deadlocked: bool
    stopped: bool
    processes: tuple[ProcessRun, ...]
    fifos: tuple[FifoRun, ...]
    tokens: int = field(default=0, compare=False)
    windows: int = field(default=0, compare=False)
    skipped: int = field(default=0, compare=False)
    work: int = field(default=0, compare=False)
    timeline: Timeline | None = field(default=None, compare=False)
