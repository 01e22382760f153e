"""What of a design the timing simulator needs: tasks with their timing, their transfers, FIFOs.

From a TaskGraph here, from `dataflow.json` in `design_json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.transfers import run_length
from compiler.errors import InvalidInputError
from compiler.graph.abreast import Abreast, copy_name, is_carrier
from compiler.graph.memory_order import CreditStream, Hazard, MemoryUse, hazards
from compiler.graph.program import (
    Access,
    Argument,
    LoopNest,
    Program,
    Repeat,
    Values,
    arguments_of,
    in_a_row,
    iterations,
    nests,
    of_layers,
    program_at,
    runs,
    tokens,
)
from compiler.graph.task_graph import (
    AT_ONCE,
    CONTROL,
    CONTROL_DEPTH,
    Control,
    DmaTask,
    Stream,
    Task,
    TaskGraph,
    TaskKind,
    TimingSpec,
    done_name,
    given_name,
    go_name,
    row_credit_name,
)
from compiler.platforms.platform import Platform
from compiler.simulator.timing.prompt_rows import ROWS, chunk_program, rows_of

CONTROL_CYCLES = 2  # of a word: it is written behind the cycle in which it is made


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
    """One dataflow process. `transfer` of a load or a store only. `go`: the stream of the word that it takes before it
    does anything for a token, `done`: that in which a store answers behind all of it. Of chunks of a prompt: `credit`
    is the stream in which a store says that memory has a row, and a load hears of it, `chunk` that of their tokens.
    """

    name: str
    kind: TaskKind
    kernel: int
    timing: TimingSpec
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    transfer: Transfer | None = None
    turns: Program = ()
    go: str = ""
    done: str = ""
    credit: str = ""
    chunk: str = ""

    @property
    def program(self) -> Program:
        """What it runs, whichever way that is written."""
        return self.turns or (self.timing.nest(self.reads, self.writes),)

    def controlled(self, go: str, done: str, credit: str = "", chunk: str = "") -> "TimedTask":
        """The task with the word that it takes before all that it does, and the answer that it gives behind that; and
        with streams that no token passes outside of chunks.
        """
        taken, given = LoopNest((1,), (Access(go),), ()), (LoopNest((1,), (), (Access(done),)),) if done else ()
        unused = tuple(_unused(name, writes=self.kind == "store" or name == chunk) for name in (credit, chunk) if name)
        timing, turns = replace(self.timing, trips=(), restarts=0, bounds=()), (taken, *self.program, *given)
        named = {"go": go, "done": done, "credit": credit, "chunk": chunk}
        return replace(self, timing=timing, turns=(*unused, *turns), **named)

    def is_data(self, nest: LoopNest) -> bool:
        """Whether a nest of a load or store moves words, and not `go`, `done` or `credit` alone."""
        return all(a.stream not in (self.go, self.done, self.credit) for a in (*nest.reads, *nest.writes))

    @property
    def moved(self) -> int:
        """Iterations that move words, of a load or store."""
        read = sum(tokens(self.program, "reads", name) for name in (self.go, self.credit) if name)
        written = sum(tokens(self.program, "writes", name) for name in (self.done, self.credit) if name)
        return iterations(self.program) - read - written

    @property
    def credits(self) -> tuple[Access, ...]:
        """Streams of credits that a store sends, or a load takes."""
        return {"load": self.reads, "store": self.writes}.get(self.kind, ())

    @property
    def words(self) -> int:
        """Words that each port of its transfer moves, re-reads included."""
        return -(-self.moved // self.transfer.tokens_per_word) if self.transfer is not None else 0

    @property
    def cycles(self) -> int:
        """From its first iteration to its last and their interval, when nothing blocks."""
        timing, moved, started = self.timing, iterations(self.program), runs(self.program)
        return (moved - started + 1) * timing.ii + (started - 1) * (timing.depth + timing.gap) if moved else 0

    def at(self, launches: Sequence[Sequence[Values]], abreast: Abreast | None = None) -> "TimedTask":
        """What it does for launches that follow each other without a gap, without arguments; each of so many rows, of
        which others have some `abreast`.
        """
        return self._running(in_a_row(self._of_rows(rows, abreast) for rows in launches))

    def copied(self, launches: Sequence[Sequence[Values]], abreast: Abreast, copy: int) -> "TimedTask":
        """The copy for some rows of each launch (`compiler.graph.abreast`): it rests in launches that have none."""
        turns = in_a_row(self._of_rows(rows, abreast, copy) for rows in launches if rows[copy:])
        return replace(self._running(abreast.of_copy(turns, copy)), name=copy_name(self.name, copy))

    def _running(self, turns: Program) -> "TimedTask":
        return replace(self, timing=replace(self.timing, trips=(), restarts=0, bounds=()), turns=turns)

    def _of_rows(self, rows: Sequence[Values], abreast: Abreast | None, copy: int = 0) -> Program:
        program = tuple(part for part in self.program if not _is_unused(part))
        copied = abreast is not None and self.name in abreast.copied
        if len(rows) == 1 and not copied:
            return program_at(program, rows[0])
        if self.name == CONTROL:
            return self._starting(len(rows), abreast)
        taken, *body = program
        done = body[len(body) - bool(self.done) :]
        own = rows[copy :: abreast.side_by_side] if abreast is not None and copied else rows
        sent = (LoopNest((len(rows) - 1,), (), (Access(self.chunk),)),) if self.chunk else ()
        inner = tuple(body[: len(body) - bool(self.done)])
        inner = of_layers(inner) if copy else inner
        of_rows = None if abreast is None else partial(abreast.of_rows, self.name, copy=copy)
        sends = self.kind == "store"
        return (taken, *sent, *chunk_program(inner, own, self.credit, sends=sends, of_rows=of_rows, every=rows), *done)

    def _starting(self, rows: int, abreast: Abreast | None) -> Program:
        """Of what starts the others: the tokens of a chunk come before all but the task that sends them can start."""
        given, others = self.writes[0], self.writes[1:]
        if abreast is not None:
            started = [a.stream for a in others if abreast.is_there_often(a.stream)]
            copies = range(1, min(abreast.side_by_side, rows))
            others = (*others, *(Access(copy_name(name, copy)) for name in started for copy in copies))
        words = (LoopNest((1,), (), others[n : n + AT_ONCE]) for n in range(0, len(others), AT_ONCE))
        ids = LoopNest((rows - 1,), (Access(self.chunk),), ())
        told, waiting = LoopNest((rows,), (), ()), (n for n in nests(self.program) if n.reads and not _is_unused(n))
        return (LoopNest((1,), (), (given,)), ids, *words, told, *waiting)


def _unused(stream: str, *, writes: bool) -> LoopNest:
    """What says that a task has a stream, and passes nothing."""
    return LoopNest((0,), (), (Access(stream),)) if writes else LoopNest((0,), (Access(stream),), ())


def _is_unused(part: LoopNest | Repeat) -> bool:
    return isinstance(part, LoopNest) and part.trips == (0,)


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
    control: Control | None = None

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
        """The design for launches with these arguments, one after the other, each of as many rows of a prompt as it
        says (`ROWS`). Raises InvalidInputError for an argument that it does not have, or a value that it can not take.
        """
        most = 1 if self.control is None else self.control.rows
        for name, value in ((name, value) for values in launches for name, value in values.items()):
            if name == ROWS and 1 <= value <= most:
                continue
            if name not in self.arguments:
                known = ", ".join(self.arguments) or "none"
                raise InvalidInputError(f"{self.name} has no argument {name}; those that it has: {known}")
        if len(launches) == 1 and not self.arguments and most == 1:
            return self
        position = "" if self.control is None else self.control.position
        rows = [rows_of(values, position) for values in launches]
        most = min(max(map(len, rows)), 1 if self.control is None else self.control.abreast)
        if most == 1:
            return replace(self, tasks=tuple(task.at(rows) for task in self.tasks))
        return self._abreast(rows, most)

    def _abreast(self, rows: Sequence[Sequence[Values]], most: int) -> "TimedDesign":
        """With copies of tasks that have rows side by side, as many as launches need that have so many at most."""
        assert self.control is not None
        loads = {task.name for task in self.tasks if task.kind == "load"}
        carriers = {t.name for t in self.tasks if is_carrier(t.kind, len(t.reads), len(t.writes))}
        data = [stream for stream in self.streams if CONTROL not in (stream.source, stream.target)]
        abreast = Abreast.of(self.control, data, loads, carriers).started(go_name)
        copies, tasks = min(most, abreast.side_by_side), list[TimedTask]()
        for task in self.tasks:
            if task.name in abreast.copied:
                tasks += (task.copied(rows, abreast, copy) for copy in range(copies))
            else:
                tasks.append(task.at(rows, abreast))

        def copy_of(stream: TimedStream, copy: int) -> TimedStream:
            ends = (stream.source, stream.target)
            own = copy % abreast.side_by_side
            source, target = (copy_name(end, own) if end in abreast.copied else end for end in ends)
            depth = abreast.depth(stream.name, stream.depth, copy)
            return replace(stream, name=copy_name(stream.name, copy), source=source, target=target, depth=depth)

        streams = [copy_of(s, k) for s in self.streams for k in range(min(most, abreast.copies(s.name)))]
        return replace(self, tasks=tuple(tasks), streams=tuple(streams))

    def ending(self) -> "TimedDesign":
        """The design with what control tells every task behind all launches: that no other token comes."""
        words = {stream.target: Access(stream.name) for stream in self.streams if stream.source == CONTROL}
        told: dict[str, Program] = {task: (LoopNest((1,), (word,), ()),) for task, word in words.items()}
        told[CONTROL] = tuple(LoopNest((1,), (), (word,)) for word in words.values())
        return replace(self, tasks=tuple(replace(t, turns=(*t.program, *told[t.name])) for t in self.tasks))

    def stalling(self) -> "TimedDesign":
        """The design with every task's pipeline a stalling one."""
        return self.with_timing({t.name: replace(t.timing, style="stp") for t in self.tasks})

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
    design = TimedDesign(tasks.name, tasks.kernels, timed, tuple(map(_timed_stream, tasks.streams)))
    return design if tasks.control is None else under_control(design, tasks.control)


def under_control(design: TimedDesign, control: Control) -> TimedDesign:
    """`design` with the task that starts all others for each token (`compiler.targets.tasks.control`)."""
    done = {store: done_name(store) for store in control.reporting}
    answers = tuple(map(Access, done.values()))
    first_told = sorted(design.tasks, key=lambda task: task.name != control.given or control.rows == 1)
    words = tuple(Access(go_name(task.name)) for task in first_told)
    starting = (LoopNest((1,), (), words[n : n + AT_ONCE]) for n in range(0, len(words), AT_ONCE))
    waiting = (LoopNest((1,), (Access(name),), ()) for name in done.values())
    timing = TimingSpec((), 1, CONTROL_CYCLES)
    chunk = given_name(control.given) if control.rows > 1 and control.given else ""
    unused = (_unused(chunk, writes=False),) if chunk else ()
    reads = (*answers, *((Access(chunk),) if chunk else ()))
    first = TimedTask(CONTROL, "route", 0, timing, reads, words, turns=(*unused, *starting, *waiting), chunk=chunk)
    loads = control.row_loads
    credit = {task: row_credit_name(load) for store, load in loads.items() for task in (store, load)}
    tasks = tuple(
        task.controlled(
            go_name(task.name),
            done.get(task.name, ""),
            credit.get(task.name, ""),
            chunk if task.name == control.given else "",
        )
        for task in design.tasks
    )
    streams = (
        *(TimedStream(go_name(task.name), CONTROL, task.name, CONTROL_DEPTH) for task in design.tasks),
        *(TimedStream(name, store, CONTROL, CONTROL_DEPTH, feedback=True) for store, name in done.items()),
        *(TimedStream(credit[load], store, load, CONTROL_DEPTH, feedback=True) for store, load in loads.items()),
        *((TimedStream(chunk, control.given or "", CONTROL, CONTROL_DEPTH, feedback=True),) if chunk else ()),
    )
    return replace(design, tasks=(first, *tasks), streams=(*design.streams, *streams), control=control)


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
