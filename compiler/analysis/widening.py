"""Weights in tokens that are wider than all of their ports: they come as the words of these, and are put together where
they are read.

A load has as many words in a cycle as ports, and such a token in several. Were it the load that puts tokens together,
a stream as wide as they are would lead from the die of the HBM to that of the engine, for tokens of which none comes in
most cycles. So what crosses is as wide as what comes; what waits for the engine does so behind it, as tokens
(`compiler.analysis.placement.prefetch`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from compiler.analysis.fifo import BRIDGE_DEPTH
from compiler.analysis.names import input_stream, widening_name
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, LoopNest, Program, Repeat, nests, with_nests
from compiler.graph.task_graph import LanesTask, LoadTask, Stream, Task, TaskGraph, TimingSpec

AS_IT_COMES = "a task reads it in every cycle"
_PASSING = TimingSpec((), 1, READ_WRITE_CYCLES)


def with_widening(
    tasks: Sequence[Task], streams: Sequence[Stream], inputs: Collection[str]
) -> tuple[list[Task], list[Stream]]:
    """Beside the other tasks those that put together tokens of several whole words which loads write to `inputs` of
    engines. O(tasks).
    """
    by_name = {stream.name: stream for stream in streams}
    pieces = {
        stream: words
        for task in tasks
        if isinstance(task, LoadTask)
        for stream, words in _words_of_tokens(task)
        if stream in inputs and by_name[stream].width == words * task.dma.word_bits
    }
    source = {task.name: task for task in tasks}
    made: list[Task] = [_in_pieces(task, pieces) if isinstance(task, LoadTask) else task for task in tasks]
    led: list[Stream] = []
    for stream in streams:
        if (count := pieces.get(stream.name)) is None:
            led.append(stream)
            continue
        name = widening_name(stream.name)
        made.append(_widening(source[stream.source], stream, count))
        words = Stream(input_stream(name), stream.source, name, _pieces(stream.itensor, count), BRIDGE_DEPTH)
        led.append(words._replace(reason=AS_IT_COMES))
        led.append(stream._replace(source=name))
    return made, led


def in_words(tasks: TaskGraph, stream: Stream) -> bool:
    """Whether it brings the words of tokens to what puts these together: no design says its depth, which is always the
    same.
    """
    target = tasks.task[stream.target]
    return isinstance(target, LanesTask) and target.pieces > 1


def _words_of_tokens(load: LoadTask) -> Iterator[tuple[str, int]]:
    """Its streams whose tokens come in several words, with how many: it writes behind the last of them."""
    for nest in nests(load.program):
        for access in nest.writes:
            if nest.is_at_end(access):
                yield access.stream, nest.trips[-1]


def _pieces(itensor: ITensor, count: int) -> ITensor:
    """Tokens cut into so many, one behind the other, in a loop more."""
    lanes = prod(itensor.element) // count
    loops, step = [Loop(count, lanes, 0)], lanes * count
    for loop in reversed(itensor.loops):
        loops.append(loop if loop.dim is None else Loop(loop.trip, step, 0))
        step *= 1 if loop.dim is None else loop.trip
    return ITensor((lanes,), itensor.dtype, tuple(reversed(loops)))


def _in_pieces(load: LoadTask, pieces: Mapping[str, int]) -> LoadTask:
    """The load without what puts words together."""
    if pieces.keys().isdisjoint(access.stream for access in load.writes):
        return load

    def each_word(nest: LoopNest) -> LoopNest:
        return replace(
            nest, writes=tuple(_each(access) if access.stream in pieces else access for access in nest.writes)
        )

    def _each(access: Access) -> Access:
        return Access(input_stream(widening_name(access.stream)), access.gates[:-1])

    program = with_nests(load.program, each_word)
    writes = tuple(_each(a)._replace(gates=()) if a.stream in pieces else a for a in load.writes)
    timing = TimingSpec((), load.timing.ii, load.timing.depth)
    return replace(load, timing=timing, writes=writes, turns=program)


def _widening(load: Task, stream: Stream, count: int) -> LanesTask:
    """What puts the tokens of a stream together, as often as the load writes one."""
    name = widening_name(stream.name)
    read = input_stream(name)

    def parts(program: Program) -> Iterator[LoopNest | Repeat]:
        for part in program:
            if isinstance(part, Repeat):
                if body := tuple(parts(part.body)):
                    yield replace(part, body=body)
            elif (access := part.access("writes", stream.name)) is not None:
                reads = (Access(read, access.gates[:-1]),)
                yield LoopNest(part.trips, reads, (access,), part.restarts, part.bounds)

    ends = (Access(read),), (Access(stream.name),)
    return LanesTask(name, load.kernel, _PASSING, *ends, blocks=1, pieces=count, turns=tuple(parts(load.program)))
