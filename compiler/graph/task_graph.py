"""TaskGraph: the accelerator of one design, frozen values (design section 3, representation 4).

What the estimator, the FIFO rules, the simulator, `dataflow.json` and the dashboard read. A task is one dataflow
process: a pipelined perfect loop nest that reads and writes tokens in some of its iterations (`Access.gates`), or
several that take turns in the same pipeline (`Task.turns`). A stream is a FIFO with one writer and one reader; streams
that are marked as `feedback` may close loops.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from compiler.errors import VerificationError
from compiler.graph.abreast import ONCE, Abreast, is_carrier
from compiler.graph.boundary import Carry
from compiler.graph.computed_once import computed_once
from compiler.graph.converter import Converter
from compiler.graph.engine import Slicing, Turn, slice_of
from compiler.graph.hashed_once import hashed_once
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.memory_order import CreditStream, MemoryUse, hazards, misplaced_credit
from compiler.graph.nest import Nest
from compiler.graph.passage import Passage, passage
from compiler.graph.pipeline_style import PipelineStyle, style_flaw
from compiler.graph.program import (
    COUNT,
    LOAD,
    SIDES,
    Access,
    Argument,
    BoundLoop,
    LoopNest,
    Program,
    Repeat,
    Side,
    Values,
    access_at,
    arguments_of,
    behind_layers,
    iterations,
    nests,
    of_layers,
    program_at,
    single_runs,
    streams,
    telling_values,
    tokens,
    trips_at,
    with_nests,
    without_loading,
    without_single_rounds,
)
from compiler.graph.windows import LineWalk

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TaskKind = Literal[
    "compute", "engine", "fork", "lanes", "chunk", "concat", "window", "route", "converter", "rom", "load", "store"
]
MemoryKind = Literal["registers", "lutram", "bram", "uram"]


@hashed_once
@dataclass(frozen=True)
class TimingSpec:
    """Loop nest in time: tripcounts outermost first, initiation interval and pipeline depth in cycles (design 3.4).

    The outer `restarts` loops are not part of the pipeline: it drains in each of their iterations and starts anew `gap`
    cycles later. In what we emit there are none, the nests are perfect and become one pipeline; a csynth report may
    tell otherwise. `bounds` are the loops that follow an argument of the launch, `trips` those of its largest value.
    """

    trips: tuple[int, ...]
    ii: int
    depth: int
    style: PipelineStyle = "flp"
    restarts: int = 0
    gap: int = 0
    bounds: tuple[BoundLoop, ...] = ()

    def at(self, values: Values) -> "TimingSpec":
        """The timing without arguments, for these values of them."""
        return replace(self, trips=trips_at(self.trips, self.bounds, values), bounds=()) if self.bounds else self

    def nest(self, reads: tuple[Access, ...], writes: tuple[Access, ...]) -> LoopNest:
        """The one nest of a task that takes no turns."""
        return LoopNest(self.trips, reads, writes, self.restarts, self.bounds)

    @computed_once
    def iterations(self) -> int:
        return prod(self.trips)

    @computed_once
    def latency(self) -> int:
        """Cycles from start to the last result when nothing blocks."""
        runs = prod(self.trips[: self.restarts])
        return runs * ((self.iterations // runs - 1) * self.ii + self.depth) + (runs - 1) * self.gap

    def passage(self, access: Access) -> Passage:
        """When the access is made in the whole run, in iterations."""
        return passage(self.trips, access.gates)

    def passages(self, accesses: tuple[Access, ...]) -> tuple[Passage, ...]:
        """The same of each."""
        return tuple([passage(self.trips, access.gates) for access in accesses])

    def first(self, access: Access) -> int:
        """Index of the first iteration that makes the access."""
        return self.passage(access).first

    def last(self, access: Access) -> int:
        """Index of the last iteration that makes the access."""
        return self.passage(access).last

    def tokens(self, access: Access) -> int:
        """Tokens that the access moves in the whole run."""
        return self.passage(access).tokens


@dataclass(frozen=True, slots=True)
class Buffer:
    """On-chip memory of a task: `banks` memories of `depth` words of `width` bits, each on its own."""

    name: str
    width: int
    depth: int
    banks: int
    kind: MemoryKind

    @property
    def bits(self) -> int:
        return self.width * self.depth * self.banks


class Part(NamedTuple):
    """A value that lies in an image with others, and the order of its tokens, of all rounds."""

    value: str
    layout: ITensor


class Dealt(NamedTuple):
    """Tokens that come in `pieces`, of which each has as much of every slice of an engine: `parts`, of so many `blocks`
    in a token (`LanesTask`).
    """

    parts: int
    blocks: int
    pieces: int


class Joint(NamedTuple):
    """What lies in one image: in each of `rounds` as many tokens of a part as in any other, parts one after the other
    as they are used; then what lies `behind`, each whole. All pass one stream, tokens in the order in which they are
    `dealt` out if that is in pieces. Where all are `packed`, each by itself and of its own type, they have streams of
    their own: of their tokens, or of the `words` that hold them.
    """

    rounds: int
    parts: tuple[Part, ...]
    behind: tuple[Part, ...] = ()
    packed: tuple["Dma", ...] = ()
    words: bool = False
    dealt: Dealt | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """In the order in which they lie there."""
        return tuple(part.value for part in (*self.parts, *self.behind))


@dataclass(frozen=True, slots=True)
class Dma:
    """A transfer between HBM and a stream. The memory holds the tokens of `layout` in order, packed into words of
    `channels` x `port_bits` bits: `tokens_per_word` tokens a word, or `words_per_token` words a token, one of the two
    being 1. `at`: of that loop of `layout` a launch moves one iteration, which its argument says. `below`: of that loop
    it reads the iterations below its argument, and has zeros for the others. `joint`: `value` is no value of the
    network, but the elements of several in a row.
    """

    value: str
    layout: ITensor
    channels: int
    tokens_per_word: int
    words_per_token: int
    port_bits: int
    at: BoundLoop | None = None
    below: BoundLoop | None = None
    joint: Joint | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """Those of the network that it moves."""
        return (self.value,) if self.joint is None else self.joint.values

    @property
    def place(self) -> BoundLoop | None:
        """The loop of `layout` where an argument of the launch counts, whatever it says there."""
        return self.at or self.below

    @property
    def words(self) -> int:
        """Words of the memory image."""
        return -(-self.layout.tokens // self.tokens_per_word) * self.words_per_token

    @property
    def word_bits(self) -> int:
        return self.channels * self.port_bits

    @property
    def channel_bytes(self) -> int:
        """Bytes of each channel of the memory image."""
        return self.words * self.port_bits // 8


def _led(accesses: tuple[Access, ...], led: Mapping[str, str]) -> tuple[Access, ...]:
    return tuple(access._replace(stream=led.get(access.stream, access.stream)) for access in accesses)


@dataclass(frozen=True)
class Task:
    """One dataflow process: its nest in time, and the streams that it reads and writes, in the order of its ports.

    `turns`: what it runs, where that is not the one nest of `timing` but several in turn, all through a pipeline of
    that interval, depth and style. Then `timing.trips` are none, and `reads` and `writes` only the order of ports. Each
    kind is a class of its own below.
    """

    kind: ClassVar[TaskKind]

    name: str
    kernel: int
    timing: TimingSpec
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    buffers: tuple[Buffer, ...] = field(default=(), kw_only=True)
    turns: Program = field(default=(), kw_only=True)

    @computed_once
    def program(self) -> Program:
        """What it runs, whichever way that is written."""
        return self.turns or (self.timing.nest(self.reads, self.writes),)

    @computed_once
    def single_runs(self) -> Program:
        """The same, each run of a pipeline as a nest of its own."""
        return single_runs(without_single_rounds(self.program))

    @computed_once
    def arguments(self) -> tuple[Argument, ...]:
        """That its trip counts follow, in the order of their names."""
        return arguments_of((self.program,))

    @property
    def operations(self) -> tuple[Turn, ...]:
        """Those of the network that it runs: none, one, or several in turn."""
        return ()

    @property
    def credits(self) -> tuple[Access, ...]:
        """Streams by which it follows others through memory: of a load or store alone."""
        return ()

    @property
    def by_layer(self) -> bool:
        """Whether its pipeline starts anew in each layer that a launch runs."""
        return self.timing.restarts > 0 or any(isinstance(part, Repeat) for part in self.turns)

    @computed_once
    def takes_turns(self) -> bool:
        """Whether it is not one nest, the same in every launch, with tokens before it and behind it; or once for each
        input that a launch takes, which is one nest of all of them.
        """
        timing = self.timing
        varies = any(bound.argument.name != COUNT for bound in timing.bounds)
        return bool(self.turns or varies or not timing.iterations or self.credits)

    @property
    def iterations(self) -> int:
        """Of all that it runs."""
        return iterations(self.turns) if self.turns else self.timing.iterations

    @computed_once
    def steady(self) -> "Task | None":
        """What of it a launch runs that loads no memory; None where that is nothing."""
        left = without_loading(self.program)
        if len(left) == len(self.program):
            return self
        if not left:
            return None
        (nest,) = nests(left)
        timing = replace(self.timing, trips=nest.trips, restarts=nest.restarts, bounds=nest.bounds)
        return replace(self, timing=timing, reads=nest.reads, writes=nest.writes, turns=())

    def writing(self, led: Mapping[str, str]) -> "Task":
        """The task with what it writes led into other streams: by name, those that are not named stay."""
        if not any(access.stream in led for access in self.writes):
            return self
        turns = with_nests(self.turns, lambda nest: replace(nest, writes=_led(nest.writes, led)))
        return replace(self, writes=_led(self.writes, led), turns=turns)

    def at(self, values: Values) -> "Task":
        """The task without arguments, for these values of them."""
        if not self.arguments:
            return self
        told = tuple([values.get(argument.name, argument.usual) for argument in self.arguments])
        found = self._told.get(told)
        if found is None:
            found = self._told[told] = self._at(values)
        return found

    @computed_once
    def _told(self) -> dict[tuple[int, ...], "Task"]:
        """The task without arguments, by their values: estimates ask for few."""
        return {}

    def _at(self, values: Values) -> "Task":
        if self.turns:
            return replace(self, turns=program_at(self.turns, values))
        timing = self.timing.at(values)
        reads, writes = (
            tuple(access_at(a, self.timing.trips, timing.trips) for a in side) for side in (self.reads, self.writes)
        )
        return replace(self, timing=timing, reads=reads, writes=writes)


@dataclass(frozen=True)
class StructuredTask(Task):
    """A task that runs an operation of the network."""

    op: LinalgOp
    nest: Nest

    @property
    def operations(self) -> tuple[Turn, ...]:
        return (Turn(self.op, self.nest),)


@hashed_once
@dataclass(frozen=True)
class ComputeTask(StructuredTask):
    """Computes points side by side. `scalars` are the values of its rank-0 inputs; `operators` counts scalar operators
    side by side in space, by name of the platform's table.
    """

    kind = "compute"

    scalars: tuple[str, ...]
    operators: tuple[tuple[str, int], ...]


@hashed_once
@dataclass(frozen=True)
class EngineTask(Task):
    """Computes operations that take turns at the same lanes: one nest of `turns` each, in the order of `served`.

    It reads a stream for each input of an operation, in their order, and writes one: those of all operations pass them
    one after the other (`RouteTask` in front and behind). `operators` as of a `ComputeTask`. Where the engine is `cut`,
    this is slice number `number` of it.
    """

    kind = "engine"

    served: tuple[Turn, ...]
    operators: tuple[tuple[str, int], ...]
    cut: Slicing | None = None
    number: int = 0

    @property
    def operations(self) -> tuple[Turn, ...]:
        """Its part of those that the engine serves."""
        return self.served if self.cut is None else tuple(slice_of(turn, self.cut) for turn in self.served)


@hashed_once
@dataclass(frozen=True)
class ChunkTask(StructuredTask):
    """Routes the tokens of each part of a tensor to a stream of its own."""

    kind = "chunk"


@hashed_once
@dataclass(frozen=True)
class ConcatTask(StructuredTask):
    """Passes on the tokens of one tensor after the other."""

    kind = "concat"


@hashed_once
@dataclass(frozen=True)
class WindowTask(StructuredTask):
    """Keeps lines of a tensor, and passes on windows of them. Its nest in time has a loop over rows of lines instead of
    that over windows, and one over the phases of a row inside of it, where there are several. Where windows leave a row
    late that loop is over the rows of all walks, which follow each other; loops that restart the pipeline stay outside.
    """

    kind = "window"

    walk: LineWalk

    @property
    def walks(self) -> int:
        """How many follow each other in the loop over rows; 1 where each has its own."""
        if not self.walk.late:
            return 1
        return (self.timing.trips[self.timing.restarts] - self.walk.late) // (self.walk.lines // self.walk.stride)


@hashed_once
@dataclass(frozen=True)
class ForkTask(Task):
    """Copies every token to each of several streams."""

    kind = "fork"


@hashed_once
@dataclass(frozen=True)
class LanesTask(Task):
    """Deals the elements of each token out to all streams that it writes, or puts together the tokens of all that it
    reads: of `blocks` runs of neighbours the first stream has the first part, the last one the last. Or it reads
    `pieces` of one stream for each token that it writes, the first of which has the first elements.
    """

    kind = "lanes"

    blocks: int
    pieces: int = 1


@hashed_once
@dataclass(frozen=True)
class RouteTask(Task):
    """Passes on the tokens of the streams that it reads, in turn, to those that it writes: in front of tasks that take
    turns and behind them, where a loop closes, and where a stream leaves a die.
    """

    kind = "route"


@hashed_once
@dataclass(frozen=True)
class ConverterTask(Task):
    """Re-orders tokens through a buffer."""

    kind = "converter"

    converter: Converter


@hashed_once
@dataclass(frozen=True)
class RomTask(Task):
    """Holds a tensor between launches, a token a word, and pushes the tokens of `streamed`, re-reads included. It is a
    part of the configuration, or `filled`, as it lies in an image, by the words that it reads in a launch that loads
    (`compiler.analysis.memories`).
    """

    kind = "rom"

    value: str
    streamed: ITensor
    filled: Dma | None = None


@dataclass(frozen=True)
class DmaTask(Task):
    """Moves words between HBM and a stream of the tokens of `streamed`, re-reads included."""

    dma: Dma
    streamed: ITensor

    @computed_once
    def words(self) -> int:
        """Words (`Dma.word_bits`) that it moves in one run, re-reads included."""
        return -(-self.iterations // self.dma.tokens_per_word)

    @property
    def credits(self) -> tuple[Access, ...]:
        """Streams of credits that a store sends, or a load takes (`compiler.graph.memory_order`)."""
        return self.writes if isinstance(self, StoreTask) else self.reads

    @property
    def row(self) -> tuple[Loop, ...]:
        """The loops of its stream within the row of the launch, all of them where there is none."""
        loops, before = self.streamed.loops, 0 if self.dma.at is None else self.dma.at.loop
        advancing = [number for number, loop in enumerate(loops) if loop.dim is not None]
        return loops[advancing[before] :] if before < len(advancing) else ()

    @property
    def memory_use(self) -> MemoryUse:
        """What it does with its image. A row that is stored where the launch says is none that the launch reads."""
        again = tuple(loop.dim is None for loop in self.streamed.loops)
        words, stores = (False,) if self.dma.words_per_token > 1 else (), isinstance(self, StoreTask)
        at = self.dma.at if stores else None
        value = self.dma.value if at is None else f"{self.dma.value} at {at.argument.name}"
        return MemoryUse(self.name, self.kernel, value, stores, self.program, (*again, *words))


@hashed_once
@dataclass(frozen=True)
class LoadTask(DmaTask):
    """Reads words from HBM and pushes tokens; where it reads streams, it takes credits. Where it writes several, it
    takes turns: the words of one, then those of the next, in tokens that are as wide.
    """

    kind = "load"


@hashed_once
@dataclass(frozen=True)
class StoreTask(DmaTask):
    """Packs tokens into words and writes them to HBM; where it writes streams, it sends credits."""

    kind = "store"


class Stream(NamedTuple):
    """A FIFO from `source` to `target` that carries `itensor`; `depth` in tokens, and `reason` why it has that depth.
    `kind` is None until memories are bound (`compiler.analysis.memory_kinds`): by the fast rule of
    `compiler.analysis.memory`. `initial` tokens are in it when a launch begins, and again when it ends. A `feedback`
    leads back to a task that comes earlier in the order of tasks, or to its own.
    """

    name: str
    source: str
    target: str
    itensor: ITensor
    depth: int = 2
    kind: MemoryKind | None = None
    reason: str = ""
    initial: int = 0
    feedback: bool = False

    @property
    def tokens(self) -> int:
        """That pass it in a launch, of the largest arguments."""
        return self.itensor.tokens

    @property
    def width(self) -> int:
        return self.itensor.width


class Control(NamedTuple):
    """A launch makes several tokens: `control` starts every task anew for each, with a word that says what the task is
    told (`go_name`), and waits for what stores send when memory has answered (`done_name`): `made`, which sends the
    `token` that it has stored, that is the next launch's argument of this name, and the `kept` ones, whose rows later
    tokens read. `position` counts up, until the argument `UNTIL`, or until the token is that of the argument `END`.
    `given`: the load of the prompt's tokens, if the network takes those that are given before one that it chooses.
    None is to be chosen (`CHOOSE`), and none ends the launch, before the position of the argument `FIRST`.

    Up to `rows` tokens of the prompt are a chunk: the word starts a task for all of them, and it does each layer for
    one after the other before it begins with the next. So a layer of a token overlaps with those of its neighbours, in
    other tasks. `given` sends `control` the tokens of a chunk (`given_name`), the streams `looped` hold what the layer
    before has made for all of it, those `held` what one phase makes for a later one, and the `loads` of what the `kept`
    stores add to take a credit from these before each row of a chunk but the first (`row_credit_name`). What a task
    repeats within a layer is a phase (`compiler.analysis.prompt_rows`), which it does for all rows before the next one.

    The tasks `copied` are for `abreast` rows of a chunk side by side: a copy for `each` of them, which those that are
    `interleaved` take in turns (`compiler.graph.abreast`). Streams of the copied that only pass what these do `behind`
    layers have no copies.
    """

    token: str
    position: str
    made: str
    kept: tuple[str, ...]
    given: str | None = None
    rows: int = 1
    looped: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    abreast: int = 1
    copied: tuple[str, ...] = ()
    each: int = 1
    interleaved: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    @property
    def row_loads(self) -> dict[str, str]:
        """The load that reads rows of a chunk which a store has written just before, by the store's name; none, where
        there are no chunks.
        """
        return dict(zip(self.kept, self.loads, strict=False))

    @property
    def reporting(self) -> tuple[str, ...]:
        """Stores that say when they are done."""
        return (self.made, *self.kept)


@lru_cache(maxsize=16384)  # with one other knob most tasks are the same
def one_of(task: Task) -> Task:
    """The first of equal tasks: what it knows of itself is found once, and who looks it up need not compare."""
    return task


UNTIL, END, FIRST = "until", "end", "first"
CHOOSE = "choose"
"""What a launch is told: 1 to choose the next token, 0 where none is wanted, as behind all but the last of a prompt."""
CONTROL = "control"
AT_ONCE = 32  # words that it writes in one cycle
CONTROL_DEPTH = 3  # tokens of each stream of words and answers: the least of any FIFO, though 1 would be as quick


def told(task: Task) -> tuple[Argument, ...]:
    """What a launch tells a task: the arguments that its loops follow, and that of the row that it moves."""
    place = task.dma.place if isinstance(task, DmaTask) else None
    return (*task.arguments, *(() if place is None else (place.argument,)))


def go_name(task: str) -> str:
    """The stream of the words that start a task."""
    return f"{task}_go"


def done_name(store: str) -> str:
    """The stream in which a store says that memory has what it stored."""
    return f"{store}_done"


def given_name(load: str) -> str:
    """The stream in which the load of a prompt sends the tokens of a chunk, behind the first."""
    return f"{load}_chunk"


def row_credit_name(load: str) -> str:
    """The stream in which the store of rows says that memory has one of a chunk that the load of them may read."""
    return f"{load}_row"


@dataclass(frozen=True)
class TaskGraph:
    """Tasks in topological order, kernels in the order in which they run; outputs that the next run reads; how many
    `inputs` a launch takes, at most.
    """

    name: str
    kernels: int
    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]
    carries: tuple[Carry, ...] = ()
    control: Control | None = None
    inputs: int = 1

    @computed_once
    def task(self) -> dict[str, Task]:
        return {t.name: t for t in self.tasks}

    @computed_once
    def stream(self) -> dict[str, Stream]:
        return {s.name: s for s in self.streams}

    @computed_once
    def transfers(self) -> tuple[DmaTask, ...]:
        """Loads and stores."""
        return tuple(t for t in self.tasks if isinstance(t, DmaTask))

    @property
    def port_bits(self) -> int:
        """Bits of a memory port of the board; 0 where nothing is moved."""
        return next((t.dma.port_bits for t in self.transfers), 0)

    @computed_once
    def padding_share(self) -> float:
        """Share of the points that contractions compute which are padding, in [0, 1)."""
        contractions = [op for task in self.tasks for op, _ in task.operations if op.is_contraction]
        computed = sum(op.iterations for op in contractions)
        return sum(op.padded_iterations for op in contractions) / computed if computed else 0.0

    @computed_once
    def arguments(self) -> tuple[Argument, ...]:
        """That trip counts follow, in the order of their names."""
        return tuple(sorted({argument for task in self.tasks for argument in task.arguments}))

    def at(self, values: Values) -> "TaskGraph":
        """The graph without arguments, for these values of them: what one launch runs. Streams still carry the itensor
        of the largest ones.
        """
        return replace(self, tasks=tuple(t.at(values) for t in self.tasks)) if self.arguments else self

    @computed_once
    def steady(self) -> "TaskGraph":
        """What launches run that find all memories filled: without what loads them; as it is, where none is."""
        if all(argument.name != LOAD for argument in self.arguments):
            return self
        tasks = tuple(task.steady for task in self.tasks if task.steady is not None)
        moved = {name for task in tasks for name in streams(task.program, "writes")}
        return replace(self, tasks=tasks, streams=tuple(s for s in self.streams if s.name in moved))

    def verify(self) -> None:
        """Raise VerificationError where a task and a stream disagree on the number of tokens or on who is connected, or
        where the two ends of a stream disagree for some values of the arguments, or a task has a pipeline of a style
        that it can not have.
        """
        for task in self.tasks:
            if flaw := style_flaw(task.timing.style, len(task.reads) + len(task.writes), isinstance(task, DmaTask)):
                raise VerificationError(f"the pipeline of {task.name} can not be {task.timing.style}: {flaw}")
            for side in SIDES:
                ports = task.reads if side == "reads" else task.writes
                moved = streams(task.program, side)
                if task.turns and sorted(port.stream for port in ports) != sorted(moved):
                    raise VerificationError(f"{task.name} {side} streams for which it has no port, or none for a port")
                for name in moved:
                    self._verify_end(task, side, name)
        used = [name for t in self.tasks for side in SIDES for name in streams(t.program, side)]
        if sorted(used) != sorted(2 * [s.name for s in self.streams]):
            raise VerificationError("a stream needs exactly one writer and one reader")
        for values in telling_values(self.arguments):
            self._verify_balance(values)
        for values in ({}, *telling_values(self.arguments)):
            self._verify_memory(values)
        self._verify_rows()

    def _verify_end(self, task: Task, side: Side, name: str) -> None:
        stream = self.stream[name]
        end = stream.target if side == "reads" else stream.source
        if end != task.name:
            raise VerificationError(f"{task.name} uses stream {name}, which belongs to {end}")
        if (moved := tokens(task.program, side, name)) != stream.tokens:
            raise VerificationError(f"{task.name} moves {moved} tokens on {name}, which carries {stream.tokens}")

    def _verify_balance(self, values: Values) -> None:
        now = {task.name: program_at(task.program, values) for task in self.tasks}
        for stream in self.streams:
            written = tokens(now[stream.source], "writes", stream.name)
            read = tokens(now[stream.target], "reads", stream.name)
            if written != read:
                at = ", ".join(f"{name} {value}" for name, value in values.items())
                raise VerificationError(
                    f"at {at} {stream.source} writes {written} tokens to {stream.name}, {stream.target} reads {read}"
                )

    def passes_through_memory(self, task: Task) -> bool:
        """Whether the load or store is of a value that its kernel both writes and reads, or shares a port with such."""
        return task.name in self._through_memory

    def asks_ahead(self, task: Task) -> bool:
        """Whether the load asks by hand for the words of its next turn while it reads those of one: where they are the
        same in every launch, or left out by `CHOOSE`, each once, and wait for nobody.
        """
        return task.name in self._asking_ahead

    def asks(self, task: Task) -> bool:
        """Whether the load or store asks for its bursts by hand."""
        return self.passes_through_memory(task) or self.asks_ahead(task)

    @computed_once
    def row_loads(self) -> dict[str, str]:
        """Those of `control`; none without one."""
        return {} if self.control is None else self.control.row_loads

    @computed_once
    def abreast(self) -> Abreast:
        """Rows that tasks have side by side."""
        control = self.control
        if control is None or control.abreast == 1:
            return Abreast(1, frozenset(), {})
        loads = {task.name for task in self.tasks if isinstance(task, LoadTask)}
        carriers = {t.name for t in self.tasks if is_carrier(t.kind, len(t.reads), len(t.writes))}
        return Abreast.of(control, self.streams, loads, carriers)

    def copies(self, name: str) -> int:
        """How often the task, or the stream, is there."""
        return self.abreast.copies(name)

    def of_copy(self, task: Task, copy: int) -> Task:
        """A copy of a task: what it does behind layers the first one does alone."""
        if copy == 0 or not behind_layers(task.program):
            return task
        turns = of_layers(task.turns)
        reads, writes = (
            tuple(access for access in ports if access.stream in set(streams(turns, side)))
            for side, ports in zip(SIDES, (task.reads, task.writes), strict=True)
        )
        rest = replace(task, turns=turns, reads=reads, writes=writes)
        if isinstance(rest, EngineTask):
            return replace(rest, served=rest.served[: sum(1 for _ in nests(turns))])
        return rest

    def rows_at_once(self, task: str) -> int:
        """For how many rows the task, or copies of it, do what they do for one."""
        rows = self.abreast
        once = any(rows.passing.get(a.stream) in ONCE for a in self.task[task].writes)
        return rows.rows if once and task not in rows.copied else rows.copies(task)

    @computed_once
    def _asking_ahead(self) -> frozenset[str]:
        return frozenset(task.name for task in self.tasks if isinstance(task, LoadTask) and self._can_ask_ahead(task))

    def _can_ask_ahead(self, load: LoadTask) -> bool:
        if load.credits or load.dma.place or self.passes_through_memory(load):
            return False
        turns = list(nests(load.turns))
        told = [bound for nest in turns for bound in nest.bounds]
        again = any(loop.dim is None for a in load.writes for loop in self.stream[a.stream].itensor.loops)
        plain = all(bound.loop == 0 and bound.argument.name == CHOOSE for bound in told)
        repeats = any(isinstance(part, Repeat) for part in load.turns)
        return (len(turns) > 1 or repeats) and plain and not again and not any(nest.restarts for nest in turns)

    @computed_once
    def _through_memory(self) -> frozenset[str]:
        found: dict[tuple[int, str], list[DmaTask]] = {}
        for task in self.transfers:
            found.setdefault((task.kernel, task.memory_use.value), []).append(task)
        through = (t.name for group in found.values() if len({u.kind for u in group}) > 1 for t in group)
        kept = () if self.control is None else self.control.reporting
        later = (t.name for t in self.transfers if t.dma.below is not None) if kept else ()
        # Through its port goes what stores the token: both then ask by hand.
        given = () if self.control is None or self.control.given is None else (self.control.given,)
        return frozenset((*through, *kept, *later, *given))

    def _verify_rows(self) -> None:
        """What moves one row of those that later tokens read asks for all of it at once."""
        for task in self.transfers:
            if task.dma.at is None or not self.passes_through_memory(task):
                continue
            tokens, each = prod(loop.trip for loop in task.row), task.dma.tokens_per_word
            if tokens % each or any(loop.dim is None for loop in task.streamed.loops):
                raise VerificationError(
                    f"{task.name} moves a row of {tokens} tokens, {each} in a word, that later tokens read: it must be "
                    "whole words, and pass once; pack fewer tokens in a word, or choose a tile that divides the row"
                )

    def _verify_memory(self, values: Values) -> None:
        """Credits are at the ends of runs, and no load asks before it has taken those that it needs."""
        transfers = [task.at(values) for task in self.transfers if self.passes_through_memory(task) or task.credits]
        if not transfers:
            return
        for task in transfers:
            assert isinstance(task, DmaTask)
            writes = isinstance(task, StoreTask)
            if name := misplaced_credit(task.program, {a.stream for a in task.credits}, writes=writes):
                where = "does not write {} in the last" if writes else "does not take {} in the first"
                raise VerificationError(f"{task.name} {where.format(name)} iteration of a run, as credits ask for")
        credit_streams = [CreditStream(s.name, s.source, s.target, s.initial) for s in self.streams]
        uses = [task.memory_use for task in transfers if isinstance(task, DmaTask)]
        for found in hazards(uses, credit_streams):
            raise VerificationError(str(found))

    def to_json(self) -> dict[str, Any]:
        """The content of `dataflow.json`, see `compiler/dataflow.schema.json`."""
        return {
            "name": self.name,
            "kernels": self.kernels,
            "padding_share": self.padding_share,
            "tasks": [task_json(t) for t in self.tasks],
            "streams": [stream_json(s) for s in self.streams],
            "carries": [asdict(c) for c in self.carries],
            **({} if self.control is None else {"control": _control_json(self.control)}),
            **({} if self.inputs == 1 else {"inputs": self.inputs}),
        }


def _converter_bytes(converter: Converter) -> dict[str, int]:
    """What it holds, and what it would by the paper's rule; iterations of one row."""
    return {
        "bytes": -(-converter.bits // 8),
        "paper_bytes": -(-converter.paper_bits // 8),
        "period": converter.realisation.period,
    }


def _control_json(control: Control) -> dict[str, Any]:
    data = control._asdict()
    if control.given is None:
        del data["given"]
    if control.rows == 1:
        del data["rows"], data["looped"], data["loads"]
    if not control.held:
        del data["held"]
    if control.abreast == 1:
        del data["abreast"], data["copied"]
    if control.each == 1:
        del data["each"], data["interleaved"]
    if not control.behind:
        del data["behind"]
    return data


def _access_json(access: Access) -> dict[str, Any]:
    return {"stream": access.stream, "gates": [gate._asdict() for gate in access.gates]}


def stream_json(stream: Stream) -> dict[str, Any]:
    """An entry of `streams` in `dataflow.json`."""
    data = stream._asdict() | {"itensor": str(stream.itensor), "tokens": stream.tokens, "width": stream.width}
    if not stream.initial and not stream.feedback:
        del data["initial"], data["feedback"]
    return data


def _fields(value: "DataclassInstance", **instead: object) -> dict[str, Any]:
    """Of a dataclass by name, some written `instead`: without the copies of `asdict`, for searches ask for digests."""
    return {f.name: instead[f.name] if f.name in instead else getattr(value, f.name) for f in fields(value)}


def _timing_json(timing: TimingSpec) -> dict[str, Any]:
    data = _fields(timing)
    del data["bounds"]
    return data | _bounds_json(timing.bounds)


def _bounds_json(bounds: tuple[BoundLoop, ...]) -> dict[str, Any]:
    """Nothing where there are none, as in most designs."""
    return {"bounds": list(map(_bound_json, bounds))} if bounds else {}


def _bound_json(bound: BoundLoop) -> dict[str, Any]:
    """What has its usual value is left out, but for the tile."""
    _, argument, fixed, each = bound
    usual = Argument._field_defaults | BoundLoop._field_defaults
    others = {"more": argument.more, "fixed": fixed, "each": each}
    always = {"loop": bound.loop, "name": argument.name, "most": argument.most, "tile": argument.tile}
    return always | {name: value for name, value in others.items() if value != usual[name]}


def _program_json(program: Program) -> list[dict[str, Any]]:
    return [
        {"trips": part.trips, "restarts": part.restarts, **_bounds_json(part.bounds)}
        | {side: [_access_json(access) for access in getattr(part, side)] for side in SIDES}
        if isinstance(part, LoopNest)
        else {"times": part.times, "body": _program_json(part.body)}
        for part in program
    ]


def _nest_json(nest: Nest) -> dict[str, Any]:
    return {"loops": [loop._asdict() for loop in nest.loops], "unroll": nest.unroll}


def _joint_json(joint: Joint) -> dict[str, Any]:
    every: list[dict[str, Any]] = [
        {"value": part.value, "layout": str(part.layout)} for part in (*joint.parts, *joint.behind)
    ]
    for part, packed in zip(every, joint.packed, strict=False):
        part |= {"tokens_per_word": packed.tokens_per_word, "words_per_token": packed.words_per_token}
    parts, behind = every[: len(joint.parts)], every[len(joint.parts) :]
    found = {"rounds": joint.rounds, "parts": parts, **({"behind": behind} if behind else {})}
    found |= {"words": True} if joint.words else {}
    return found | ({"dealt": joint.dealt._asdict()} if joint.dealt is not None else {})


def task_json(task: Task, *, with_least: bool = True) -> dict[str, Any]:
    """An entry of `tasks` in `dataflow.json`, `with_least` bytes of a converter, which take longer than all else."""
    data: dict[str, Any] = {
        "name": task.name,
        "kind": task.kind,
        "kernel": task.kernel,
        "timing": _timing_json(task.timing),
        "reads": [_access_json(access) for access in task.reads],
        "writes": [_access_json(access) for access in task.writes],
        "op": None,
        "nest": None,
        "scalars": (),
        "operators": {},
        "buffers": [_fields(buffer) for buffer in task.buffers],
        "converter": None,
        "dma": None,
    }
    if task.turns:
        data["turns"] = _program_json(task.turns)
    match task:
        case StructuredTask():
            data |= {"op": task.op.name, "nest": _nest_json(task.nest)}
            data |= {"window": task.walk._asdict()} if isinstance(task, WindowTask) else {}
            data |= (
                {"scalars": task.scalars, "operators": dict(task.operators)} if isinstance(task, ComputeTask) else {}
            )
        case EngineTask():
            served = [{"op": op.name, "nest": _nest_json(nest)} for op, nest in task.served]
            data |= {"served": served, "operators": dict(task.operators)}
            data |= {} if task.cut is None else {"slice": {"number": task.number, "of": task.cut.slices}}
        case LanesTask():
            data |= {"blocks": task.blocks} if task.pieces == 1 else {"pieces": task.pieces}
        case ConverterTask(converter=converter):
            itensors = {"source": str(converter.source), "target": str(converter.target)}
            written = _fields(converter, **itensors, realisation=asdict(converter.realisation))
            least = {"exact_bytes": -(-converter.exact_bits // 8)} if with_least else {}
            data["converter"] = written | _converter_bytes(converter) | least
        case RomTask():
            data["rom"] = {"value": task.value, "layout": str(task.streamed.without_rereads())}
            data["rom"] |= {} if task.filled is None else {"words": task.filled.words}
        case DmaTask(dma=dma):
            data["dma"] = _fields(dma, layout=str(dma.layout)) | {"words": dma.words}
            del data["dma"]["port_bits"]  # the board's, which design.json names
            del data["dma"]["at"], data["dma"]["below"], data["dma"]["joint"]
            data["dma"] |= {"at": _bound_json(dma.at)} if dma.at is not None else {}
            data["dma"] |= {"below": _bound_json(dma.below)} if dma.below is not None else {}
            data["dma"] |= {"joint": _joint_json(dma.joint)} if dma.joint is not None else {}
        case _:
            pass
    return data
