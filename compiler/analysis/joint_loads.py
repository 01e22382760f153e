"""Weights of an engine that come through the same ports: one image, in the order in which its turns use them.

One operation works at a time, so that a weight with ports of its own leaves them idle in the turns of others. Through a
joint load each weight has all the ports, in its own turn; nothing routes, and no weight waits for another that is not
used before it.

What is multiplied when the engine has done all of its turns, as behind layers the product with a vocabulary, has the
same ports too: its weights lie behind the others, and the load writes them to a stream of their own. They may be of
another type, and in tokens of half or twice as many bits: then each of either is a whole number of words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import TypeVar

from compiler.analysis.names import joint_load_name, operand_stream
from compiler.analysis.prompt_rows import by_phase
from compiler.analysis.rows import given_rows
from compiler.analysis.tasks import load_task
from compiler.graph.design import Design, Edge, Engine, Transfer
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.layers import is_long
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import Program, Repeat
from compiler.graph.task_graph import Joint, LoadTask, Part, TimingSpec

Found = TypeVar("Found")
# Weights of two that take their turns come through `p` of 2 p ports together as soon as through some of the 2 p each.
MOST_WORDS = 2


def hindrance(design: Design, engine: Engine, index: int) -> str | None:
    """Why the loads of an engine's input can not be one; None where they can: each brings a parameter straight to its
    operation, of every layer its own, and once.
    """
    for op in engine.turns:
        found = _loaded(design, op, index)
        if isinstance(found, str):
            return found
        value = design.graph.value[found.value]
        if design.graph.layers is not None and not is_long(design.graph, value):
            return f"{value.name} is read more than once in a launch"
    return None


def hindrance_behind(design: Design, engine: Engine, index: int, op: str) -> str | None:
    """Why the load of an engine's input can not bring that of `op`, too, behind all else; None where it can: that is a
    parameter in tokens that share words with the engine's, which nothing waits for that the engine is needed for.
    """
    if op not in design.graph.op or design.kernel_of.get(op) != engine.kernel:
        return f"@{op} is no task of its kernel"
    if any(op in other.turns for other in design.engines.values()):
        return f"@{op} takes turns itself"
    if any(op in other.behind for other in design.engines.values() if other != engine):
        return f"the load of another engine brings that of @{op}"
    found = _loaded(design, op, index)
    if isinstance(found, str):
        return found
    first = design.edges[operand_stream(engine.turns[0], index)]
    if not _share_words(found.itensor.width, first.itensor.width, design.platform.hbm.port_bits):
        return f"tokens of {found.value} have {found.itensor.width} bits, those of the others {first.itensor.width}"
    if op in _before(design.graph, engine):
        return f"@{op} comes before what @{engine.turns[-1]} serves"
    return None


def _share_words(width: int, other: int, port_bits: int) -> bool:
    """Whether tokens of two widths can come through the same ports: equal ones, or whole words of which the wider has
    `MOST_WORDS` times as many at most. The narrower says how many ports there are: with fewer, all the weights of both
    would sooner come through ports of their own.
    """
    narrow, wide = sorted((width, other))
    return wide == narrow or (narrow % port_bits == 0 and wide % narrow == 0 and wide // narrow <= MOST_WORDS)


def behind(design: Design, engine: Engine, index: int) -> tuple[str, ...]:
    """Operations of the engine's kind whose input the load of its own can bring behind all else, in the order in which
    they stand.
    """
    kind = design.graph.op[engine.turns[0]].is_contraction
    found = [op.name for op in design.graph.ops if op.kind == "generic" and op.is_contraction == kind]
    return tuple(op for op in found if hindrance_behind(design, engine, index, op) is None)


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


def _before(graph: LinalgGraph, engine: Engine) -> set[str]:
    """The engine's turns, or where there are layers all of these, and what they wait for."""
    turns = set(engine.turns) if graph.layers is None else {op.name for op in graph.ops} - set(graph.outside)
    return ops_before(graph, turns)


def ops_before(graph: LinalgGraph, ops: Iterable[str]) -> set[str]:
    """The operations with these names, and what they wait for. O(operations)."""
    found = set(ops)
    for op in reversed(graph.ops):
        if any(reader.name in found for out in op.outputs for reader, _ in graph.consumers[out.value]):
            found.add(op.name)
    return found


def joint_streams(design: Design) -> dict[str, str]:
    """Streams of operands that joint loads bring, by name: the stream in which the tokens of all of them come."""
    return {
        operand_stream(op, index): operand_stream(name, index)
        for name, engine, index in _joint_inputs(design)
        for op in engine.turns
    }


def streams_behind(design: Design) -> dict[str, str]:
    """Streams that joint loads write behind all else, by name: the stream that they write before."""
    return {
        operand_stream(op, index): operand_stream(name, index)
        for name, engine, index in _joint_inputs(design)
        for op in engine.behind
    }


def joint_load_of(design: Design) -> dict[str, str]:
    """The task that brings what a load would bring alone, by the names of both: a joint load, or what loads share."""
    through = {name: load.through for name, load in design.loads.items() if load.through}
    return through | {
        design.edges[operand_stream(op, index)].source: joint_load_name(name, index)
        for name, engine, index in _joint_inputs(design)
        for op in (*engine.turns, *engine.behind)
    }


def _joint_inputs(design: Design) -> Iterator[tuple[str, Engine, int]]:
    """Engines by name, with each input that one load brings."""
    return ((name, engine, index) for name, engine in design.engines.items() for index in engine.joint)


def of_all_streams(design: Design, found: Mapping[str, Found]) -> dict[str, Found]:
    """What was found of the streams of a task graph, by name, with the streams that joint ones stand for."""
    return {**found, **{stream: found[whole] for stream, whole in joint_streams(design).items()}}


def joint_load(
    folded: Design,
    launch: Design,
    name: str,
    index: int,
    tokens: ITensor,
    rounds: int,
    of_turns: Sequence[int] | None,
) -> LoadTask:
    """The load of an engine's input in a launch, of `tokens`; in each of `rounds`, which are the layers, it reads what
    its operations use in one, and behind them what others do. Where its turns are of phases (`of_turns`), what each of
    a layer uses is read by itself: `launch` is `folded` of all layers.
    """
    engine, stream = launch.engines[name], operand_stream(name, index)
    first, *others = (_load(launch, op, index) for op in (*engine.turns, *engine.behind))
    loads, last = [first, *others][: len(engine.turns)], others[len(engine.turns) - 1 :]
    called, parts = joint_load_name(name, index), [Part(load.value, load.itensor.without_rereads()) for load in loads]
    task = load_task(called, Transfer(stream, engine.kernel, tokens, first.packing), stream, launch.platform)
    joint = Joint(rounds, tuple(parts), tuple(Part(load.value, load.itensor) for load in last))
    if not last and of_turns is None:
        return replace(task, dma=replace(task.dma, joint=joint))
    streams = [operand_stream(op, index) for op in engine.behind]
    others = [load_task(called, load, s, launch.platform) for load, s in zip(last, streams, strict=True)]
    layout, words = _in_one_image([task, *others])
    inside: Program = (task.timing.nest(task.reads, task.writes),)
    if of_turns is not None:
        own = (load_task(called, _load(folded, op, index), stream, launch.platform) for op in engine.turns)
        body = tuple(t.timing.nest(t.reads, t.writes) for t in own)
        inside = (Repeat(rounds, by_phase(body, of_turns)),)
    return replace(
        task,
        timing=TimingSpec((), task.timing.ii, task.timing.depth),
        writes=tuple(access._replace(gates=()) for t in (task, *others) for access in t.writes),
        dma=replace(task.dma, layout=layout, words_per_token=words, joint=joint),
        streamed=layout,
        turns=(*inside, *(t.timing.nest(t.reads, t.writes) for t in others)),
    )


def _in_one_image(tasks: Sequence[LoadTask]) -> tuple[ITensor, int]:
    """What loads of the same ports read one behind the other, as tokens of all, and words of each; words themselves
    where their tokens are not equally wide.
    """
    streamed, dma = [task.streamed for task in tasks], tasks[0].dma
    alike = len({itensor.width for itensor in streamed}) == 1
    bits, words = (streamed[0].width, dma.words_per_token) if alike else (dma.word_bits, 1)
    lanes, whole = bits // DTYPE_BITS[streamed[0].dtype], sum(itensor.width * itensor.tokens for itensor in streamed)
    return ITensor((lanes,), streamed[0].dtype, (Loop(whole // bits, lanes, 0),)), words


def words_together(design: Design) -> dict[str, int]:
    """By load, words of which each token has a multiple, where a joint load brings tokens that are not equally wide:
    its ports are as many as divide these. None of other loads.
    """
    found, bits = dict[str, int](), design.platform.hbm.port_bits
    for _, engine, index in _joint_inputs(design):
        edges = [design.edges[operand_stream(op, index)] for op in (*engine.turns, *engine.behind)]
        widths = {edge.itensor.width for edge in edges}
        if len(widths) > 1:
            found |= dict.fromkeys((edge.source for edge in edges), gcd(*widths) // bits)
    return found


def _load(launch: Design, op: str, index: int) -> Transfer:
    return launch.loads[launch.edges[operand_stream(op, index)].source]


def tokens_between(design: Design) -> dict[str, int]:
    """By load, tokens that whole words hold, so that what lies behind begins with one, and where a prompt is given each
    turn: a divisor of those of every stream but the last. None of loads that bring one stream alone, in one piece.
    """
    found, count = dict[str, int](), 1 if design.graph.layers is None else design.graph.layers.count
    apart = bool(given_rows(design.graph))  # in chunks of a prompt each turn is read again
    for _, engine, index in _joint_inputs(design):
        if not engine.behind and not apart:
            continue
        turns, last = (
            [design.edges[operand_stream(op, index)] for op in side] for side in (engine.turns, engine.behind)
        )
        inside = [e.itensor.tokens for e in turns]
        inside = inside if apart else [count * sum(inside)]
        whole = gcd(*inside, *(e.itensor.tokens for e in last[:-1]))
        found |= {edge.source: whole for edge in (*turns, *last)}
    return found
