"""TaskGraph: the accelerator of one design, frozen values (design section 3, representation 4).

What the estimator, the FIFO rules, the simulator, `dataflow.json` and the dashboard read. A task is one dataflow
process: a pipelined perfect loop nest that reads and writes tokens in some of its iterations (`Access.gates`). A
stream is a FIFO with one writer and one reader.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple

from compiler.errors import VerificationError
from compiler.graph.boundary import Carry
from compiler.graph.converter import Converter
from compiler.graph.hashed_once import hashed_once
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.pipeline_style import PipelineStyle, style_flaw

TaskKind = Literal["compute", "fork", "chunk", "concat", "converter", "load", "store"]
MemoryKind = Literal["registers", "lutram", "bram", "uram"]


class Gate(NamedTuple):
    """Restricts an access to the iterations where loop `loop` is in [low, high)."""

    loop: int
    low: int
    high: int


class Access(NamedTuple):
    """Reads or writes of one stream: a token in every iteration that all gates admit."""

    stream: str
    gates: tuple[Gate, ...] = ()


def iteration_of(trips: Sequence[int], access: Access, token: int) -> int:
    """The iteration of a nest of `trips`, outermost first, in which the access moves token number `token` (from 0)."""
    gates = {g.loop: (g.low, g.high) for g in access.gates}
    iteration, stride = 0, 1
    for k in range(len(trips) - 1, -1, -1):
        low, high = gates.get(k, (0, trips[k]))
        token, index = divmod(token, high - low)
        iteration += (low + index) * stride
        stride *= trips[k]
    return iteration


class Span(NamedTuple):
    """First and last iteration in which an access moves a token, and how many it moves."""

    first: int
    last: int
    tokens: int


@hashed_once
@dataclass(frozen=True)
class TimingSpec:
    """Loop nest in time: tripcounts outermost first, initiation interval and pipeline depth in cycles (design 3.4).

    The outer `restarts` loops are not part of the pipeline: it drains in each of their iterations and starts anew `gap`
    cycles later. In what we emit there are none, the nests are perfect and become one pipeline; a csynth report may
    tell otherwise.
    """

    trips: tuple[int, ...]
    ii: int
    depth: int
    style: PipelineStyle = "flp"
    restarts: int = 0
    gap: int = 0

    @cached_property
    def iterations(self) -> int:
        return prod(self.trips)

    @cached_property
    def latency(self) -> int:
        """Cycles from start to the last result when nothing blocks."""
        runs = prod(self.trips[: self.restarts])
        return runs * ((self.iterations // runs - 1) * self.ii + self.depth) + (runs - 1) * self.gap

    @cached_property
    def _spans(self) -> dict[tuple[Gate, ...], Span]:
        return {}

    def span(self, access: Access) -> Span:
        """When the access is made in the whole run, in iterations."""
        found = self._spans.get(access.gates)
        if found is None:
            found = self._spans[access.gates] = self._find_span(access.gates)
        return found

    def _find_span(self, gates: tuple[Gate, ...]) -> Span:
        first, last, tokens = 0, self.iterations - 1, self.iterations
        for gate in gates:
            inside, trip = prod(self.trips[gate.loop + 1 :]), self.trips[gate.loop]
            first += gate.low * inside
            last -= (trip - gate.high) * inside
            tokens = tokens // trip * (gate.high - gate.low)
        return Span(first, last, tokens)

    def first(self, access: Access) -> int:
        """Index of the first iteration that makes the access."""
        return self.span(access).first

    def last(self, access: Access) -> int:
        """Index of the last iteration that makes the access."""
        return self.span(access).last

    def tokens(self, access: Access) -> int:
        """Tokens that the access moves in the whole run."""
        return self.span(access).tokens

    def tokens_until(self, access: Access, iteration: int) -> int:
        """Tokens moved in iterations 0 .. `iteration`, both included."""
        if not access.gates:
            return iteration + 1
        gates = {g.loop: (g.low, g.high) for g in access.gates}
        count = admitted = 1  # of the loops inside: up to where they are, and in all
        for k in range(len(self.trips) - 1, -1, -1):
            iteration, index = divmod(iteration, self.trips[k])
            low, high = gates.get(k, (0, self.trips[k]))
            if index < low:
                count = 0
            elif index < high:
                count += (index - low) * admitted
            else:
                count = (high - low) * admitted
            admitted *= high - low
        return count


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


@dataclass(frozen=True, slots=True)
class Dma:
    """A transfer between HBM and a stream. The memory holds the tokens of `layout` in order, packed into words of
    `channels` x `port_bits` bits: `tokens_per_word` tokens a word, or `words_per_token` words a token, one of the two
    being 1.
    """

    value: str
    layout: ITensor
    channels: int
    tokens_per_word: int
    words_per_token: int
    port_bits: int

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


@dataclass(frozen=True)
class Task:
    """One dataflow process: its nest in time, and the streams that it reads and writes, in the order of its ports.

    Each kind is a class of its own below.
    """

    kind: ClassVar[TaskKind]

    name: str
    kernel: int
    timing: TimingSpec
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    buffers: tuple[Buffer, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class StructuredTask(Task):
    """A task that runs an operation of the network."""

    op: LinalgOp
    nest: Nest


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
class ForkTask(Task):
    """Copies every token to each of several streams."""

    kind = "fork"


@hashed_once
@dataclass(frozen=True)
class ConverterTask(Task):
    """Re-orders tokens through a buffer."""

    kind = "converter"

    converter: Converter


@dataclass(frozen=True)
class DmaTask(Task):
    """Moves words between HBM and a stream of the tokens of `streamed`, re-reads included."""

    dma: Dma
    streamed: ITensor


@hashed_once
@dataclass(frozen=True)
class LoadTask(DmaTask):
    """Reads words from HBM and pushes tokens."""

    kind = "load"


@hashed_once
@dataclass(frozen=True)
class StoreTask(DmaTask):
    """Packs tokens into words and writes them to HBM."""

    kind = "store"


class Stream(NamedTuple):
    """A FIFO from `source` to `target` that carries `itensor`; `depth` in tokens, and `reason` why it has that depth.
    `kind` is None until memories are bound (`compiler.analysis.memory_kinds`): by the fast rule of
    `compiler.analysis.memory`.
    """

    name: str
    source: str
    target: str
    itensor: ITensor
    depth: int = 2
    kind: MemoryKind | None = None
    reason: str = ""

    @property
    def tokens(self) -> int:
        return self.itensor.tokens

    @property
    def width(self) -> int:
        return self.itensor.width


@dataclass(frozen=True)
class TaskGraph:
    """Tasks in topological order, kernels in the order in which they run; outputs that the next run reads."""

    name: str
    kernels: int
    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]
    carries: tuple[Carry, ...] = ()

    @cached_property
    def task(self) -> dict[str, Task]:
        return {t.name: t for t in self.tasks}

    @cached_property
    def stream(self) -> dict[str, Stream]:
        return {s.name: s for s in self.streams}

    @cached_property
    def transfers(self) -> tuple[DmaTask, ...]:
        """Loads and stores."""
        return tuple(t for t in self.tasks if isinstance(t, DmaTask))

    @property
    def port_bits(self) -> int:
        """Bits of a memory port of the board."""
        return self.transfers[0].dma.port_bits

    @cached_property
    def padding_share(self) -> float:
        """Share of the points that contractions compute which are padding, in [0, 1)."""
        contractions = [t.op for t in self.tasks if isinstance(t, StructuredTask) and t.op.is_contraction]
        computed = sum(op.iterations for op in contractions)
        return sum(op.padded_iterations for op in contractions) / computed if computed else 0.0

    def verify(self) -> None:
        """Raise VerificationError where a task and a stream disagree on the number of tokens or on who is connected, or
        a task has a pipeline of a style that it can not have.
        """
        for task in self.tasks:
            streams = len(task.reads) + len(task.writes)
            if flaw := style_flaw(task.timing.style, streams, isinstance(task, DmaTask)):
                raise VerificationError(f"the pipeline of {task.name} can not be {task.timing.style}: {flaw}")
            for access in (*task.reads, *task.writes):
                stream = self.stream[access.stream]
                end = stream.target if access in task.reads else stream.source
                if end != task.name:
                    raise VerificationError(f"{task.name} uses stream {stream.name}, which belongs to {end}")
                if task.timing.tokens(access) != stream.tokens:
                    raise VerificationError(
                        f"{task.name} moves {task.timing.tokens(access)} tokens on {stream.name}, "
                        f"which carries {stream.tokens}"
                    )
        used = [a.stream for t in self.tasks for a in (*t.reads, *t.writes)]
        if sorted(used) != sorted(2 * [s.name for s in self.streams]):
            raise VerificationError("a stream needs exactly one writer and one reader")

    def to_json(self) -> dict[str, Any]:
        """The content of `dataflow.json`, see `compiler/dataflow.schema.json`."""
        streams = [
            {**s._asdict(), "itensor": str(s.itensor), "tokens": s.tokens, "width": s.width} for s in self.streams
        ]
        return {
            "name": self.name,
            "kernels": self.kernels,
            "padding_share": self.padding_share,
            "tasks": [_task_json(t) for t in self.tasks],
            "streams": streams,
            "carries": [asdict(c) for c in self.carries],
        }


def _converter_bytes(converter: Converter) -> dict[str, int]:
    """What it holds, what it would by the paper's rule, what it must at least; iterations of one row."""
    return {
        "bytes": -(-converter.bits // 8),
        "paper_bytes": -(-converter.paper_bits // 8),
        "exact_bytes": -(-converter.exact_bits // 8),
        "period": converter.realisation.period,
    }


def _access_json(access: Access) -> dict[str, Any]:
    return {"stream": access.stream, "gates": [gate._asdict() for gate in access.gates]}


def _nest_json(nest: Nest) -> dict[str, Any]:
    return {"loops": [loop._asdict() for loop in nest.loops], "unroll": nest.unroll}


def _task_json(task: Task) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": task.name,
        "kind": task.kind,
        "kernel": task.kernel,
        "timing": asdict(task.timing),
        "reads": [_access_json(access) for access in task.reads],
        "writes": [_access_json(access) for access in task.writes],
        "op": None,
        "nest": None,
        "scalars": (),
        "operators": {},
        "buffers": [asdict(buffer) for buffer in task.buffers],
        "converter": None,
        "dma": None,
    }
    match task:
        case StructuredTask():
            data |= {"op": task.op.name, "nest": _nest_json(task.nest)}
            data |= (
                {"scalars": task.scalars, "operators": dict(task.operators)} if isinstance(task, ComputeTask) else {}
            )
        case ConverterTask(converter=converter):
            itensors = {"source": str(converter.source), "target": str(converter.target)}
            data["converter"] = asdict(converter) | itensors | _converter_bytes(converter)
        case DmaTask(dma=dma):
            data["dma"] = asdict(dma) | {"layout": str(dma.layout), "words": dma.words}
            del data["dma"]["port_bits"]  # the board's, which design.json names
        case _:
            pass
    return data
