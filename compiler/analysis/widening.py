"""Weights in tokens that are wider than all of their ports: they come as the words of these, and are put together where
they are read.

A load has as many words in a cycle as ports, and such a token in several. Were it the load that puts tokens together,
a stream as wide as they are would lead from the die of the HBM to that of the engine, for tokens of which none comes in
most cycles. So what crosses is as wide as what comes; what waits for the engine does so behind it, as tokens
(`compiler.analysis.placement.prefetch`). Where an engine has slices, a word has as much of each of them, so that each
puts its own tokens together, and may lie on another die than others.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from compiler.analysis.fifo import BRIDGE_DEPTH
from compiler.analysis.names import input_stream, share_name, widening_name
from compiler.analysis.operators import READ_WRITE_CYCLES
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate, LoopNest, Program, Repeat, nests, with_nests
from compiler.graph.task_graph import Dealt, LanesTask, LoadTask, RouteTask, Stream, Task, TaskGraph, TimingSpec

AS_IT_COMES = "a task reads it in every cycle"
_PASSING = TimingSpec((), 1, READ_WRITE_CYCLES)


def with_widening(
    tasks: Sequence[Task], streams: Sequence[Stream], inputs: Collection[str]
) -> tuple[list[Task], list[Stream]]:
    """Beside the other tasks those that put together tokens of several whole words which loads write to `inputs` of
    engines: in front of what deals a token out to slices, or where a word has as much of each of them, behind that, by
    what shares tokens among rows side by side, if there is such a task.
    O(tasks).
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
    deals = {name: _deal(source[by_name[name].target], count, by_name) for name, count in pieces.items()}
    behind = {part.stream: deal for deal in deals.values() if deal is not None for part in deal.task.writes}
    dealing = {deal.task.name: deal for deal in behind.values()}
    shared = {part: by_name[part].target for part in behind if shares(source[by_name[part].target])}
    sharing = {share: behind[part] for part, share in shared.items()}
    made = [_dealing(task, dealing[task.name], shared) if task.name in dealing else task for task in tasks]
    made = [_sharing(task, sharing[task.name]) if task.name in sharing else task for task in made]
    made = [_in_pieces(task, pieces, deals) if isinstance(task, LoadTask) else task for task in made]
    led: list[Stream] = []
    for stream in streams:
        if stream.name in shared:
            words = _pieces(stream.itensor, behind[stream.name].pieces)
            led.append(stream._replace(itensor=words, depth=BRIDGE_DEPTH, reason=AS_IT_COMES))
            continue
        if (deal := behind.get(stream.name)) is not None:
            count = deal.pieces
            program = _behind_last(deal.task.program, stream.name, count)
        elif (deal := deals.get(stream.name)) is not None:
            led.append(stream._replace(itensor=_pieces(stream.itensor, deal.pieces)))
            continue
        elif (count := pieces.get(stream.name, 1)) > 1:
            program = source[stream.source].program
        else:
            led.append(stream)
            continue
        name = widening_name(stream.name)
        made.append(_widening(source[stream.source].kernel, program, stream.name, count))
        words = Stream(input_stream(name), stream.source, name, _pieces(stream.itensor, count), BRIDGE_DEPTH)
        led.append(words._replace(reason=AS_IT_COMES))
        led.append(stream._replace(source=name))
    return made, led


class _Deal(NamedTuple):
    """What deals out tokens that come in so many pieces."""

    task: LanesTask
    pieces: int


def _deal(reader: Task, pieces: int, streams: Mapping[str, Stream]) -> _Deal | None:
    """The reader, if it can deal out pieces as well as tokens; None where it does anything else."""
    if not isinstance(reader, LanesTask) or len(reader.writes) == 1:
        return None
    lanes = {prod(streams[part.stream].itensor.element) for part in reader.writes}
    return _Deal(reader, pieces) if all(lane % pieces == 0 for lane in lanes) else None


def _dealing(task: Task, deal: _Deal, shared: Collection[str]) -> LanesTask:
    """Deals out each piece of a token, which has a piece of every part."""

    def to_reader(access: Access) -> Access:
        return access if access.stream in shared else _to_widening(access)

    def each_piece(nest: LoopNest) -> LoopNest:
        return replace(nest, trips=(*nest.trips, deal.pieces), writes=tuple(map(to_reader, nest.writes)))

    assert isinstance(task, LanesTask)
    turns = with_nests(task.program, each_piece)
    timing = TimingSpec((), task.timing.ii, task.timing.depth)
    return replace(task, timing=timing, writes=tuple(map(to_reader, task.writes)), turns=turns, blocks=1)


def _sharing(share: Task, deal: _Deal) -> LanesTask:
    """What hands tokens on, as what puts them together."""
    program = _behind_last(share.program, share.writes[0].stream, deal.pieces)
    return LanesTask(share.name, share.kernel, _PASSING, share.reads, share.writes, 1, deal.pieces, turns=program)


def _to_widening(access: Access) -> Access:
    return access._replace(stream=input_stream(widening_name(access.stream)))


def _behind_last(program: Program, stream: str, pieces: int) -> Program:
    """What a task does that writes tokens, as one that writes those of this stream behind the last piece of each."""

    def at_end(nest: LoopNest) -> LoopNest:
        last = Gate(len(nest.trips), pieces - 1, pieces)
        writes = tuple(a._replace(gates=(*a.gates, last)) for a in nest.writes if a.stream == stream)
        return replace(nest, trips=(*nest.trips, pieces), writes=writes)

    return with_nests(program, at_end)


def shares(task: Task) -> bool:
    """Whether all that the task does is to hand tokens on to rows side by side (`compiler.analysis.engines`)."""
    return isinstance(task, RouteTask) and task.name == share_name(task.writes[0].stream)


def passes_through(tasks: TaskGraph, stream: Stream) -> bool:
    """Whether it leads to what puts tokens together from the words that it brings, or shares them: nothing waits there,
    and no design says its depth, which is always the same.
    """
    target = tasks.task[stream.target]
    return shares(target) or (isinstance(target, LanesTask) and target.pieces > 1)


def streams_in_pieces(tasks: Sequence[Task]) -> Iterator[str]:
    """Streams whose tokens are put together behind them."""
    lanes = [task for task in tasks if isinstance(task, LanesTask)]
    found = {task.reads[0].stream for task in lanes if task.pieces > 1}
    yield from found
    yield from (task.reads[0].stream for task in lanes if found.issuperset(write.stream for write in task.writes))


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


def _in_pieces(load: LoadTask, pieces: Mapping[str, int], deals: Mapping[str, _Deal | None]) -> LoadTask:
    """The load without what puts words together."""
    if pieces.keys().isdisjoint(access.stream for access in load.writes):
        return load

    def each_word(nest: LoopNest) -> LoopNest:
        return replace(
            nest, writes=tuple(_each(access) if access.stream in pieces else access for access in nest.writes)
        )

    def _each(access: Access) -> Access:
        word = access._replace(gates=access.gates[:-1])
        return word if deals[access.stream] is not None else _to_widening(word)

    program = with_nests(load.program, each_word)
    writes = tuple(_each(a)._replace(gates=()) if a.stream in pieces else a for a in load.writes)
    timing = TimingSpec((), load.timing.ii, load.timing.depth)
    made = replace(load, timing=timing, writes=writes, turns=program)
    if (deal := deals[load.writes[0].stream]) is None:
        return made
    dealt = Dealt(len(deal.task.writes), deal.task.blocks, deal.pieces)
    assert load.dma.joint is not None  # of an engine's input
    return replace(made, dma=replace(load.dma, joint=load.dma.joint._replace(dealt=dealt)))


def _widening(kernel: int, whole: Program, stream: str, count: int) -> LanesTask:
    """What puts the tokens of a stream together, as often as a task with this program writes one."""
    name = widening_name(stream)
    read = input_stream(name)

    def parts(program: Program) -> Iterator[LoopNest | Repeat]:
        for part in program:
            if isinstance(part, Repeat):
                if body := tuple(parts(part.body)):
                    yield replace(part, body=body)
            elif (access := part.access("writes", stream)) is not None:
                reads = (Access(read, access.gates[:-1]),)
                yield LoopNest(part.trips, reads, (access,), part.restarts, part.bounds)

    ends = (Access(read),), (Access(stream),)
    return LanesTask(name, kernel, _PASSING, *ends, blocks=1, pieces=count, turns=tuple(parts(whole)))
