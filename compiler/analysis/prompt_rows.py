"""Rows of a prompt that a launch takes at once.

Between two layers of a token most tasks wait for what others make of it. A prompt's tokens are known, so those of a
chunk follow each other within a layer, and each task is busy with another of them. Weights are read again for each.

What takes turns at an engine would be done for one token before the next one begins. So a layer is cut into phases: in
each an engine has the turns that do not wait for others of its own, and does them for all rows before those of the next
phase. Every other operation belongs to the phase of the last that it waits for. Within a phase rows follow each other
as they do without engines; what a phase makes for a later one is held, of all rows.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from compiler.analysis.names import c_name, input_stream
from compiler.analysis.rows import given_rows
from compiler.graph.abreast import APART, ONCE
from compiler.graph.design import Design, Transfer
from compiler.graph.layers import is_long
from compiler.graph.program import Program, Repeat, nests, of_layers, tokens
from compiler.graph.task_graph import LoadTask, Task, TaskGraph

PROMPT_ROWS = 8
"""Of a chunk at least: more than there are matrix products in a layer, so that the slowest of them never waits for the
others; what a layer makes of so many rows is kept until the next one takes it.
"""
MOST_ROWS, CHUNKS = 16, 16
"""A chunk fills and drains in each layer: it has up to `MOST_ROWS` where replies are long, one of `CHUNKS` parts of all
positions, which so many rows are worth the memory for.
"""


def prompt_rows(folded: Design) -> int:
    """Tokens of a prompt in a chunk; 1 where they go through one by one: no prompt is given, or kernels run in turn,
    or a load does not bring each layer by itself.
    """
    graph = folded.graph
    given = given_rows(graph) & {load.value for load in folded.loads.values() if not load.resident}
    if not given or folded.kernels != 1:
        return 1
    moved = (t for t in (*folded.loads.values(), *folded.stores.values()) if not t.resident)
    if graph.layers is not None and not all(_ends_with_word(folded, t) for t in moved if in_layers(folded, t)):
        return 1
    positions = min(row.count for name in given if (row := graph.value[name].row) is not None)
    return min(MOST_ROWS, max(PROMPT_ROWS, positions // CHUNKS))


def in_layers(folded: Design, transfer: Transfer) -> bool:
    """Whether each layer moves the value, or its own."""
    layers = folded.graph.layers
    outside = folded.graph.once if layers is None else folded.graph.once | layers.read | layers.made
    return layers is not None and transfer.value not in outside


def _ends_with_word(folded: Design, transfer: Transfer) -> bool:
    """Whether a layer begins with a word of its own."""
    tokens, packing = transfer.itensor.without_rereads().tokens, transfer.packing
    long = is_long(folded.graph, folded.graph.value[transfer.value])
    return packing is not None and (not long or tokens % packing.tokens_per_word == 0)


def chunk_depths(tasks: TaskGraph) -> dict[str, int]:
    """The least depth of streams that lead from a layer, or a phase, to the next, by name: the rows of a chunk that the
    next one has not taken while the first still takes others. Of those in front of rows side by side, and behind them,
    the tokens of a row: no row's come, or are taken, before all of the one before it. Of loads that share a port those
    of the rows beside the first, and of as many each that are made ready for engines and that leave them: what all of
    these begin with comes behind what is read behind the first.
    """
    if tasks.control is None:
        return {}
    holding = [tasks.stream[name] for name in (*tasks.control.looped, *tasks.control.held)]
    found = {s.name: _rows_of(tasks, s.name) * _of_row(tasks.task[s.source], s.name) for s in holding}
    for name, passing in tasks.abreast.passing.items():
        if passing in APART:
            source = of_layers(tasks.task[tasks.stream[name].source].program)
            found[name] = max(found.get(name, 0), _of_phase(source, name))
    if tasks.abreast.rows == 1:
        return found
    others = 3 * tasks.abreast.rows - 1
    loads = {task.name for task in tasks.tasks if isinstance(task, LoadTask)}
    shared = [
        task
        for task in tasks.tasks
        if len(task.writes) > 1 and (task.name in loads or {tasks.stream[a.stream].source for a in task.reads} <= loads)
    ]
    apart = (t for t in shared if not any(tasks.abreast.passing.get(a.stream) in ONCE for a in t.writes))
    for task, name in ((t, access.stream) for t in apart for access in t.writes):
        found[name] = max(found.get(name, 0), others * _of_phase(task.program, name))
    return found


def _rows_of(tasks: TaskGraph, stream: str) -> int:
    """Of a chunk that pass the stream, or each of its copies."""
    assert tasks.control is not None
    return -(-tasks.control.rows // tasks.copies(stream))


def _of_row(source: Task, stream: str) -> int:
    """Tokens that a task writes to a stream for a row of a chunk before others can follow: in one layer."""
    return sum(
        tokens((part,), "writes", stream) // (part.times if isinstance(part, Repeat) else part.runs)
        for part in source.program
    )


def _of_phase(program: Program, stream: str) -> int:
    """Tokens that a task writes to a stream for a row, at most, before it takes the next one."""
    if not any(isinstance(part, Repeat) for part in program):
        return sum(tokens((part,), "writes", stream) // part.runs for part in nests(program))
    return max(_of_phase(part.body if isinstance(part, Repeat) else (part,), stream) for part in program)


class _Place(NamedTuple):
    """The phase of an operation, and the engines that what it waits for in there is served by, or itself."""

    phase: int
    engines: frozenset[str]


def phases(folded: Design) -> dict[str, int]:
    """Of the operations of a layer, by name. O(operations)."""
    graph, found, reached = folded.graph, dict[str, _Place](), dict[str, int]()
    engine_of = {op: name for name, engine in folded.engines.items() for op in engine.turns}
    for op in (op for op in graph.ops if op.name not in graph.outside):
        before = [found[source.name] for source in graph.sources(op) if source.name in found]
        phase = max((place.phase for place in before), default=0)
        if (engine := engine_of.get(op.name)) is not None:
            waits = any(engine in place.engines for place in before if place.phase == phase)
            phase = reached[engine] = max(phase + waits, reached.get(engine, 0))
        engines = frozenset[str]().union(*(place.engines for place in before if place.phase == phase))
        found[op.name] = _Place(phase, engines | ({engine} if engine is not None else frozenset()))
    return {name: place.phase for name, place in found.items()}


def by_phase(turns: Program, of_turns: Iterable[int]) -> Program:
    """The turns of a layer with those of each phase together, so that rows follow each other within it; `of_turns` has
    the phase of each, in order.
    """
    groups = groupby(zip(turns, of_turns, strict=True), lambda turn: turn[1])
    return tuple(Repeat(1, tuple(nest for nest, _ in group)) for _, group in groups)


def held_streams(folded: Design) -> Iterator[str]:
    """Streams that lead to a later phase than that in which their tokens are made; and what leaves the layers, if loads
    bring what is read behind them when all rows have been there. Loads go ahead of their readers, but for those that
    hand theirs to several.
    """
    graph = folded.graph
    if graph.layers is None:
        return
    last = {load.value for load in folded.loads.values() if load.through}
    turning = {op for engine in folded.engines.values() for op in engine.turns if engine.joint}
    if not turning.isdisjoint(graph.outside) or not last.isdisjoint(graph.once):
        carried = (made for made, _ in graph.carried if made in graph.once)
        yield from (folded.leaving[c_name(graph.producer[made][0].name), made][0] for made in carried)
    found, read = phases(folded), graph.layers.read
    phase = {c_name(name): found.get(name, 0) for name in graph.op}
    inside = {c_name(name) for name in found}

    def made_in(node: str) -> int | None:
        if node in folded.loads:
            return 0 if folded.loads[node].value in read else None
        if node not in folded.forks and node not in folded.converters:
            return phase[node]
        before = made_in(folded.edges[input_stream(node)].source)
        return 0 if before is None and node in folded.forks else before

    for name, edge in folded.edges.items():
        if edge.target in inside and (made := made_in(edge.source)) is not None and made < phase[edge.target]:
            yield name
