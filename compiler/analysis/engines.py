"""Tasks of an engine: one for each input in front that passes on the tokens of the operation whose turn it is, the
engine, and one behind it that gives every operation's readers what is theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from compiler.analysis.names import c_name, inner_streams, operand_stream, route_in, route_out
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.analysis.tasks import KEPT_TASKS, accumulator_buffers, operation_pipeline
from compiler.graph.design import Design, Engine
from compiler.graph.engine import Turn
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, LoopNest
from compiler.graph.task_graph import EngineTask, RouteTask, Stream, Task, TimingSpec
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

INNER_DEPTH = 2  # of the streams between an engine and its routes, which wait for one another only while they fill


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
    """The tasks of an engine and the streams between them."""
    turns = tuple(Turn(design.graph.op[op], design.nests[op]) for op in engine.turns)
    first, edges = turns[0].op, design.edges
    made = tuple(design.leaving[c_name(turn.op.name), turn.op.outputs[0].value][0] for turn in turns)
    *inputs, results = inner_streams(name, len(first.inputs))
    tasks: list[Task] = []
    streams: list[Stream] = []
    target: dict[str, str] = {}

    def pass_on(route: str, ends: tuple[str, str], inner: str, outer: Sequence[str]) -> None:
        """A task that joins the streams `outer` to `inner`, or parts it; `ends` are those of the latter."""
        itensors = [edges[stream].itensor for stream in outer]
        streams.append(Stream(inner, *ends, _in_turn(itensors), design.depths.get(inner, INNER_DEPTH)))
        same = [inner] * len(outer)
        reads, writes = (outer, same) if ends[0] == route else (same, outer)
        tasks.append(_route(route, engine.kernel, _nests([i.tokens for i in itensors], reads, writes)))

    for index, inner in enumerate(inputs):
        route, ports = route_in(name, index), [operand_stream(op, index) for op in engine.turns]
        pass_on(route, (route, name), inner, ports)
        target |= dict.fromkeys(ports, route)
    pass_on(route_out(name), (name, route_out(name)), results, made)
    multiplier = design.multipliers.get(first.name, "fabric")
    tasks.append(_engine(name, engine.kernel, turns, tuple(inputs), results, multiplier, design.platform))
    return EngineParts(tuple(tasks), tuple(streams), route_out(name), target)


def _in_turn(itensors: Sequence[ITensor]) -> ITensor:
    """What passes tokens of all of these: as many as all have, their elements in a row."""
    lanes = prod(itensors[0].element)
    return ITensor((lanes,), itensors[0].dtype, (Loop(sum(i.tokens for i in itensors), lanes, 0),))


def _nests(counts: Sequence[int], reads: Sequence[str], writes: Sequence[str]) -> tuple[LoopNest, ...]:
    return tuple(
        LoopNest((count,), (Access(read),), (Access(write),))
        for count, read, write in zip(counts, reads, writes, strict=True)
    )


def _route(name: str, kernel: int, turns: tuple[LoopNest, ...]) -> RouteTask:
    reads = dict.fromkeys(access.stream for turn in turns for access in turn.reads)
    writes = dict.fromkeys(access.stream for turn in turns for access in turn.writes)
    timing = TimingSpec((), 1, READ_WRITE_CYCLES)
    return RouteTask(name, kernel, timing, tuple(map(Access, reads)), tuple(map(Access, writes)), turns=turns)


@lru_cache(KEPT_TASKS)
def _engine(
    name: str,
    kernel: int,
    served: tuple[Turn, ...],
    reads: tuple[str, ...],
    write: str,
    multiplier: Multiplier,
    platform: Platform,
) -> EngineTask:
    """One nest an operation. The pipeline is as long, and starts as seldom, as the most demanding of them needs."""
    kept = max(nest.accumulators(op.iterators) for op, nest in served)
    pipelines = [operation_pipeline(op, nest, multiplier, platform, kept) for op, nest in served]
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
        buffers=accumulator_buffers(*served[0], kept, platform),
        turns=turns,
    )
