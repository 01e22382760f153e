"""Tasks of an engine: one for each input in front that passes on the tokens of the operation whose turn it is, unless a
joint load brings them in this order, the engine, and one behind it that gives every operation's readers what is theirs.

An engine that is cut is several equal tasks. What all of them read is handed on along a chain of forks, so that no
register drives them all; tokens of which each has a part are dealt out, and results put together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.names import (
    c_name,
    deal_name,
    engine_names,
    input_stream,
    join_name,
    joint_load_name,
    operand_stream,
    route_in,
    route_out,
    share_name,
    slice_name,
)
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.analysis.tasks import KEPT_TASKS, accumulator_buffers, operation_pipeline
from compiler.errors import VerificationError
from compiler.graph.design import Design, Engine
from compiler.graph.engine import Slicing, Turn, layout, slice_of, slicing
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import long_itensor
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest
from compiler.graph.program import Access, LoopNest, Program, Repeat
from compiler.graph.task_graph import EngineTask, ForkTask, LanesTask, RouteTask, Stream, Task, TimingSpec
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

INNER_DEPTH = 2  # of the streams between an engine and its routes, which wait for one another only while they fill
PASSING = TimingSpec((), 1, READ_WRITE_CYCLES)


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What stands for the operations of an engine: `source` and `target` say which task writes, or reads, a stream in
    an operation's place.
    """

    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]
    source: str
    target: Mapping[str, str]


def engine_parts(name: str, engine: Engine, design: Design) -> EngineParts:
    """The tasks of an engine and the streams between them; of one of layers, what these do in one, and what they do
    behind all.
    """
    turns, edges = _turns(engine, design.graph, design.nests), design.edges
    made = [design.leaving[c_name(turn.op.name), turn.op.outputs[0].value][0] for turn in turns]
    inside = _Inside(name, engine, design.depths)
    target: dict[str, str] = {}
    inputs: list[_Turns] = []
    fronts: list[str] = []
    for index in range(len(turns[0].op.inputs)):
        ports = [operand_stream(op, index) for op in engine.turns]
        inputs.append(_Turns.of(design, engine, [edges[port].itensor for port in ports]))
        if index in engine.joint:
            fronts.append(joint_load_name(name, index))
            continue
        fronts.append(route_in(name, index))
        inside.route(fronts[-1], inputs[-1], ports, [operand_stream(name, index)] * len(ports))
        target |= dict.fromkeys(ports, fronts[-1])
    results = _Turns.of(design, engine, [edges[stream].itensor for stream in made])
    inside.route(route_out(name), results, [input_stream(route_out(name))] * len(made), made)
    multiplier = design.multipliers.get(turns[0].op.name, "fabric")
    lanes = _Lanes(turns, multiplier, design.platform, _cut(name, engine, turns[0]))
    inside.fill(lanes, list(zip(fronts, inputs, strict=True)), results)
    return EngineParts(tuple(inside.tasks), tuple(inside.streams), route_out(name), target)


def in_layers(graph: LinalgGraph, engine: Engine) -> int:
    """How many of its turns, the first, an engine has in each layer; all, where there are none."""
    return sum(op not in graph.outside for op in engine.turns)


def in_all_turns(design: Design, engine: Engine, counts: Sequence[int], lanes: int, dtype: str) -> ITensor:
    """So many tokens in each turn of a launch, their elements in a row."""
    layers, inside = design.graph.layers, in_layers(design.graph, engine)
    of_layer, behind = sum(counts[:inside]), sum(counts[inside:])
    if layers is None or behind:
        rounds = 1 if layers is None else layers.count
        return ITensor((lanes,), dtype, (Loop(rounds * of_layer + behind, lanes, 0),))
    return long_itensor(ITensor((lanes,), dtype, (Loop(of_layer, lanes, 0),)), layers.count)


def in_all_layers(design: Design, engine: Engine, turns: Program, of_layer: Program) -> Program:
    """`turns` of an engine with those `of_layer` in place of the first ones, in each layer where there are any."""
    if design.graph.layers is None:
        return turns
    return (Repeat(design.graph.layers.count, of_layer), *turns[in_layers(design.graph, engine) :])


def engine_streams(name: str, engine: Engine, graph: LinalgGraph, nests: Mapping[str, Nest]) -> Iterator[str]:
    """Streams between an engine's routes, whose depths its line of the IR has: those of each input, then of results."""
    first = _turns(engine, graph, nests)[0]
    cut, slices = _cut(name, engine, first), range(engine.slices)
    *inputs, _ = layout(first.op, first.nest.unroll)
    for index, lanes in enumerate(inputs):
        yield operand_stream(name, index)
        if cut is not None:
            parts = [operand_stream(slice_name(name, n), index) for n in slices]
            yield from parts
            yield from () if cut.blocks(lanes) else map(input_stream, _chain(name, index, engine.slices)[1:])
    if cut is not None:
        yield from (operand_stream(join_name(name), n) for n in slices)
    yield input_stream(route_out(name))


def _turns(engine: Engine, graph: LinalgGraph, nests: Mapping[str, Nest]) -> tuple[Turn, ...]:
    return tuple(Turn(graph.op[op], nests[op]) for op in engine.turns)


def _cut(name: str, engine: Engine, first: Turn) -> Slicing | None:
    if engine.slices == 1:
        return None
    cut = slicing(first, engine.slices)
    if cut is None or cut.slices != engine.slices:
        possible = 1 if cut is None else cut.slices
        raise VerificationError(f"@{name} can not be cut into {engine.slices} slices, but into {possible}")
    return cut


def _chain(name: str, index: int, slices: int) -> list[str]:
    """Forks that hand an input on: each slice but the last has one."""
    first = deal_name(name, index)
    return [first, *(f"{first}_{n}" for n in range(1, slices - 1))]


class _Turns(NamedTuple):
    """What passes tokens of all turns, their elements in a row, and how many in each."""

    itensor: ITensor
    counts: tuple[int, ...]

    @staticmethod
    def of(design: Design, engine: Engine, itensors: Sequence[ITensor]) -> "_Turns":
        counts, (first, *_) = tuple(i.tokens for i in itensors), itensors
        return _Turns(in_all_turns(design, engine, counts, prod(first.element), first.dtype), counts)

    def part(self, slices: int) -> ITensor:
        """What one of the slices has of it."""
        (*outer, loop), lanes = self.itensor.loops, self.itensor.element[-1] // slices
        element = (*self.itensor.element[:-1], lanes)
        return ITensor(element, self.itensor.dtype, (*outer, loop._replace(step=lanes)))


class _Lanes(NamedTuple):
    """What an engine computes, with what, and in how many parts."""

    turns: tuple[Turn, ...]
    multiplier: Multiplier
    platform: Platform
    cut: Slicing | None

    def blocks(self, operand: int) -> int | None:
        """How tokens of an operand, inputs first, are dealt out (`Slicing.blocks`)."""
        (op, nest), *_ = self.turns
        return None if self.cut is None else self.cut.blocks(layout(op, nest.unroll)[operand])


@dataclass
class _Inside:
    """Tasks of the engine `name`, and the streams between them."""

    name: str
    engine: Engine
    depths: Mapping[str, int]
    tasks: list[Task] = field(default_factory=list[Task])
    streams: list[Stream] = field(default_factory=list[Stream])

    def route(self, name: str, turns: _Turns, reads: Sequence[str], writes: Sequence[str]) -> None:
        """A task that joins the streams of the turns to one, or parts it."""
        nests = tuple(
            LoopNest((count,), (Access(read),), (Access(write),))
            for count, read, write in zip(turns.counts, reads, writes, strict=True)
        )
        ends = (tuple(map(Access, dict.fromkeys(side))) for side in (reads, writes))
        self.tasks.append(RouteTask(name, self.engine.kernel, PASSING, *ends, turns=nests))

    def fill(self, lanes: _Lanes, inputs: Sequence[tuple[str, _Turns]], results: _Turns) -> None:
        """What stands between those that bring the inputs and the route behind."""
        join = route_out(self.name) if lanes.cut is None else join_name(self.name)
        names = engine_names(self.name, 1 if lanes.cut is None else lanes.cut.slices)
        for index, (front, turns) in enumerate(inputs):
            self._bring(index, front, turns, lanes, names)
        for number, name in enumerate(names):
            reads = tuple(operand_stream(name, index) for index in range(len(inputs)))
            write = input_stream(join) if lanes.cut is None else operand_stream(join, number)
            self._connect(write, name, join, results.part(len(names)))
            self.tasks.append(_engine(name, self.engine.kernel, lanes, reads, write, number))
        if (blocks := lanes.blocks(-1)) is not None:  # slices have a part of every token of results
            write, parts = input_stream(route_out(self.name)), [operand_stream(join, n) for n in range(len(names))]
            self._connect(write, join, route_out(self.name), results.itensor)
            self._add_lanes(join, results, parts, [write], blocks)

    def _bring(self, index: int, front: str, turns: _Turns, lanes: _Lanes, names: Sequence[str]) -> None:
        """Tokens of an input, from the task in front to all that read them."""
        first = operand_stream(self.name, index)
        if lanes.cut is None:
            self._connect(first, front, self.name, turns.itensor)
            return
        self._connect(first, front, deal_name(self.name, index), turns.itensor)
        if (blocks := lanes.blocks(index)) is None:
            self._hand_on(index, turns, names)
            return
        deal, parts = deal_name(self.name, index), [operand_stream(name, index) for name in names]
        own, dealt = turns._replace(itensor=turns.part(len(names))), list[str]()
        for stream, reader in zip(parts, names, strict=True):
            source = self._share(stream, deal, own) if self.engine.shares(index) else deal
            dealt.append(input_stream(source) if source != deal else stream)
            self._connect(stream, source, reader, own.itensor)
        self._add_lanes(deal, turns, [first], dealt, blocks)

    def _share(self, stream: str, source: str, turns: _Turns) -> str:
        """The task on the die of a slice by which a token crosses to it once for all rows side by side."""
        share = share_name(stream)
        self._connect(input_stream(share), source, share, turns.itensor)
        self.route(share, turns, [input_stream(share)] * len(turns.counts), [stream] * len(turns.counts))
        return share

    def _hand_on(self, index: int, turns: _Turns, slices: Sequence[str]) -> None:
        """Whole tokens, from one slice to the next."""
        forks = _chain(self.name, index, len(slices))
        read = operand_stream(self.name, index)
        for fork, reader, behind in zip(forks, slices, [*forks[1:], slices[-1]], strict=False):
            mine = operand_stream(reader, index)
            on = operand_stream(behind, index) if behind == slices[-1] else input_stream(behind)
            self._connect(mine, fork, reader, turns.itensor)
            self._connect(on, fork, behind, turns.itensor)
            ends = (Access(read),), (Access(mine), Access(on))
            self._add(ForkTask(fork, self.engine.kernel, PASSING, *ends), turns)
            read = on

    def _add_lanes(self, name: str, turns: _Turns, reads: Sequence[str], writes: Sequence[str], blocks: int) -> None:
        read, write = tuple(map(Access, reads)), tuple(map(Access, writes))
        self._add(LanesTask(name, self.engine.kernel, PASSING, read, write, blocks), turns)

    def _add(self, task: ForkTask | LanesTask, turns: _Turns) -> None:
        """A task that moves a token in every iteration: with a nest a turn, as those before and behind it have."""
        nests = tuple(LoopNest((count,), task.reads, task.writes) for count in turns.counts)
        self.tasks.append(replace(task, turns=nests))

    def _connect(self, stream: str, source: str, target: str, itensor: ITensor) -> None:
        self.streams.append(Stream(stream, source, target, itensor, self.depths.get(stream, INNER_DEPTH)))


@lru_cache(KEPT_TASKS)
def _engine(name: str, kernel: int, lanes: _Lanes, reads: tuple[str, ...], write: str, number: int) -> EngineTask:
    """One nest an operation. The pipeline is as long, and starts as seldom, as the most demanding of them needs."""
    served, multiplier, platform, cut = lanes
    own = served if cut is None else tuple(slice_of(turn, cut) for turn in served)
    kept = max(nest.accumulators(op.iterators) for op, nest in own)
    pipelines = [operation_pipeline(op, nest, multiplier, platform, kept) for op, nest in own]
    turns = tuple(
        LoopNest(
            pipeline.timing.trips,
            tuple(Access(stream, gates) for stream, gates in zip(reads, pipeline.reads, strict=True)),
            (Access(write, pipeline.write),),
        )
        for pipeline in pipelines
    )
    timing = TimingSpec((), max(p.timing.ii for p in pipelines), max(p.timing.depth for p in pipelines))
    return EngineTask(
        name,
        kernel,
        timing,
        tuple(map(Access, reads)),
        (Access(write),),
        served,
        pipelines[0].operators,
        cut,
        number,
        buffers=accumulator_buffers(*own[0], kept, platform),
        turns=turns,
    )
