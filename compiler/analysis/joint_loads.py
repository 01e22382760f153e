"""Weights of an engine that come through the same ports: one image, in the order in which its turns use them.

One operation works at a time, so that a weight with ports of its own leaves them idle in the turns of others. Through a
joint load each weight has all the ports, in its own turn; nothing routes, and no weight waits for another that is not
used before it.

What it multiplies behind layers, as the product with a vocabulary, lies behind the others, once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd, prod
from typing import TypeVar

from compiler.analysis.engines import in_all_layers, in_all_turns, in_layers
from compiler.analysis.names import joint_load_name, operand_stream
from compiler.analysis.prompt_rows import by_phase
from compiler.analysis.rows import given_rows
from compiler.analysis.tasks import load_task
from compiler.graph.design import Design, Edge, Engine, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long
from compiler.graph.program import Program
from compiler.graph.task_graph import Joint, LoadTask, Part, TimingSpec

Found = TypeVar("Found")


def hindrance(design: Design, engine: Engine, index: int) -> str | None:
    """Why the loads of an engine's input can not be one; None where they can: each brings a parameter straight to its
    operation, of every layer its own, and once.
    """
    for op in engine.turns:
        found = _loaded(design, op, index)
        if isinstance(found, str):
            return found
        value = design.graph.value[found.value]
        if design.graph.layers is not None and op not in design.graph.outside and not is_long(design.graph, value):
            return f"{value.name} is read more than once in a launch"
    return None


def _loaded(design: Design, op: str, index: int) -> Edge | str:
    """What brings a parameter straight from its load to an operation, once in a launch; why nothing does."""
    edge = design.edges.get(operand_stream(op, index))
    load = None if edge is None else design.loads.get(edge.source)
    if edge is None or load is None:
        return f"@{op} does not get input {index} straight from a load"
    value = design.graph.value[load.value]
    if value.role != "param" or value.row is not None:
        return f"{value.name} is not a whole parameter"
    if load.itensor.rereads > 1:
        return f"{value.name} is read more than once in a launch"
    if len(design.leaving[edge.port]) > 1:
        return f"{value.name} has other readers beside @{op}"
    return edge


def joint_streams(design: Design) -> dict[str, str]:
    """Streams of operands that joint loads bring, by name: the stream in which the tokens of all of them come."""
    return {
        operand_stream(op, index): operand_stream(name, index)
        for name, engine, index in _joint_inputs(design)
        for op in engine.turns
    }


def joint_load_of(design: Design) -> dict[str, str]:
    """The task that brings what a load would bring alone, by the names of both: a joint load, or what loads share."""
    through = {name: load.through for name, load in design.loads.items() if load.through}
    return through | {
        design.edges[operand_stream(op, index)].source: joint_load_name(name, index)
        for name, engine, index in _joint_inputs(design)
        for op in engine.turns
    }


def _joint_inputs(design: Design) -> Iterator[tuple[str, Engine, int]]:
    """Engines by name, with each input that one load brings."""
    return ((name, engine, index) for name, engine in design.engines.items() for index in engine.joint)


def of_all_streams(design: Design, found: Mapping[str, Found]) -> dict[str, Found]:
    """What was found of the streams of a task graph, by name, with the streams that joint ones stand for."""
    return {**found, **{stream: found[whole] for stream, whole in joint_streams(design).items()}}


def joint_load(folded: Design, launch: Design, name: str, index: int, of_turns: Sequence[int] | None) -> LoadTask:
    """The load of an engine's input in a launch: in each layer what its operations use there, then what those behind
    layers do. Where its turns in a layer are of phases (`of_turns`), what each uses is read by itself: `launch` is
    `folded` of all layers.
    """
    engine, stream, called = launch.engines[name], operand_stream(name, index), joint_load_name(name, index)
    one, number = [_load(folded, op, index) for op in engine.turns], in_layers(folded.graph, engine)
    counts, (first, *_) = [load.itensor.tokens for load in one], one
    lanes, dtype = prod(first.itensor.element), first.itensor.dtype

    def loaded(tokens: ITensor) -> LoadTask:
        return load_task(called, Transfer(stream, engine.kernel, tokens, first.packing), stream, launch.platform)

    task = loaded(in_all_turns(folded, engine, counts, lanes, dtype))
    parts = [Part(load.value, load.itensor) for load in (_load(launch, op, index) for op in engine.turns)]
    rounds = 1 if folded.graph.layers is None else folded.graph.layers.count
    dma = replace(task.dma, joint=Joint(rounds, tuple(parts[:number]), tuple(parts[number:])))
    if of_turns is None and number == len(parts):
        return replace(task, dma=dma)
    own = [load_task(called, load, stream, launch.platform) for load in one]
    turns: Program = tuple(t.timing.nest(t.reads, t.writes) for t in own)
    if of_turns is None:
        inside = loaded(in_all_turns(folded, engine, counts[:number], lanes, dtype))
        turns = (inside.timing.nest(inside.reads, inside.writes), *turns[number:])
    else:
        turns = in_all_layers(folded, engine, turns, by_phase(turns[:number], of_turns))
    writes = tuple(access._replace(gates=()) for access in task.writes)
    return replace(task, timing=TimingSpec((), task.timing.ii, task.timing.depth), writes=writes, dma=dma, turns=turns)


def _load(launch: Design, op: str, index: int) -> Transfer:
    return launch.loads[launch.edges[operand_stream(op, index)].source]


def tokens_between(design: Design) -> dict[str, int]:
    """By load, tokens that whole words hold, so that what lies behind layers begins with one, and where a prompt is
    given each turn: a divisor of those of every turn but the last. None of loads that bring all in one piece.
    """
    found, count = dict[str, int](), 1 if design.graph.layers is None else design.graph.layers.count
    apart = bool(given_rows(design.graph))  # in chunks of a prompt each turn is read again
    for _, engine, index in _joint_inputs(design):
        edges = [design.edges[operand_stream(op, index)] for op in engine.turns]
        number = in_layers(design.graph, engine)
        if number == len(edges) and not apart:
            continue
        tokens = [edge.itensor.tokens for edge in edges]
        inside, last = tokens[:number], tokens[number:]
        whole = gcd(*(inside if apart else [count * sum(inside)]), *last[:-1])
        found |= {edge.source: whole for edge in edges}
    return found
