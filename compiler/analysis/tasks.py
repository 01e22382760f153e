"""Tasks from their parts: the one place where a nest becomes a timing spec, operators and buffers."""

from dataclasses import replace
from functools import lru_cache
from math import gcd, prod
from typing import NamedTuple

from compiler.analysis.banks import converter_buffer
from compiler.analysis.memory import buffer_cost, buffer_kind, rom_kind
from compiler.analysis.names import c_name
from compiler.analysis.operators import (
    READ_WRITE_CYCLES,
    REGISTER_ACCUMULATORS,
    count_operators,
    initiation_interval,
    pipeline_depth,
)
from compiler.analysis.rows import all_rows
from compiler.analysis.transfers import run_of
from compiler.errors import VerificationError
from compiler.graph.converter import Converter
from compiler.graph.design import Packing, Transfer
from compiler.graph.itensor import DTYPE_BITS, ITensor
from compiler.graph.linalg_graph import LinalgOp, Row, Value, line_walk
from compiler.graph.nest import Nest
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Repeat
from compiler.graph.realisation import Window
from compiler.graph.task_graph import (
    Buffer,
    ChunkTask,
    ComputeTask,
    ConcatTask,
    ConverterTask,
    Dma,
    ForkTask,
    LoadTask,
    RomTask,
    StoreTask,
    StructuredTask,
    TimingSpec,
    WindowTask,
)
from compiler.graph.windows import LineWalk, Rows
from compiler.options import Multiplier
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Platform

KEPT_TASKS = 16384  # of one knob and the next nearly all tasks are the same
BUFFER_CYCLES = 2  # address and data stage of an on-chip memory
Gates = tuple[Gate, ...]


@lru_cache(KEPT_TASKS)
def structured_task(
    op: LinalgOp,
    nest: Nest,
    kernel: int,
    reads: tuple[str | None, ...],
    values: tuple[Value, ...],
    writes: tuple[str, ...],
    multiplier: Multiplier,
    platform: Platform,
) -> StructuredTask:
    """The task of an operation. `reads[i]` is the stream of input i, None for a scalar passed by value; `values[i]` the
    value that input i reads; `writes` the streams of the outputs.
    """
    if op.kind == "generic":
        return _compute_task(op, nest, kernel, reads, writes[0], multiplier, platform)
    streamed = tuple(stream for stream in reads if stream is not None)
    if op.kind == "chunk":
        return _chunk_task(op, nest, kernel, streamed[0], writes)
    if op.kind == "window":
        return _window_task(op, nest, kernel, values[0], streamed[0], writes[0], platform)
    return _concat_task(op, nest, kernel, tuple(value.shape for value in values), streamed, writes[0])


class OperationPipeline(NamedTuple):
    """What the nest of an operation makes of it, wherever it stands."""

    timing: TimingSpec
    reads: tuple[Gates, ...]
    write: Gates
    operators: tuple[tuple[str, int], ...]
    buffers: tuple[Buffer, ...]


def accumulator_buffers(op: LinalgOp, nest: Nest, kept: int, platform: Platform) -> tuple[Buffer, ...]:
    """Memory of `kept` vectors of partial results; registers hold a few."""
    if kept <= REGISTER_ACCUMULATORS:
        return ()
    assert op.body is not None
    width, banks = DTYPE_BITS[op.body.dtype_of(op.body.result)], prod(nest.unroll[d] for d in op.outputs[0].dims)
    return (Buffer("acc", width, kept, banks, buffer_cost(width, kept, banks, platform.memories).kind),)


@lru_cache(maxsize=16384)
def operation_pipeline(
    op: LinalgOp, nest: Nest, multiplier: Multiplier, platform: Platform, kept: int | None = None
) -> OperationPipeline:
    """The pipeline of an operation with a memory of `kept` vectors of partial results, or as many as it has alive."""
    kept = nest.accumulators(op.iterators) if kept is None else kept
    interval = initiation_interval(op, nest, multiplier, platform, kept)
    depth = pipeline_depth(op, nest, multiplier, platform, kept)
    return OperationPipeline(
        TimingSpec(nest.trips, interval, depth, restarts=nest.restarts),
        # A token is read in the first iteration of the loops that reuse it.
        tuple(tuple(Gate(k, 0, 1) for k in range(nest.read_level(o.dims), len(nest.loops))) for o in op.inputs),
        # A result leaves in the last iteration of the reduction loops.
        tuple(Gate(k, nest.trips[k] - 1, nest.trips[k]) for k in nest.reduction_loops(op.iterators)),
        count_operators(op, nest, multiplier, kept),
        accumulator_buffers(op, nest, kept, platform),
    )


def _compute_task(
    op: LinalgOp,
    nest: Nest,
    kernel: int,
    reads: tuple[str | None, ...],
    write: str,
    multiplier: Multiplier,
    platform: Platform,
) -> ComputeTask:
    pipeline = operation_pipeline(op, nest, multiplier, platform)
    return ComputeTask(
        c_name(op.name),
        kernel,
        pipeline.timing,
        tuple(Access(s, gates) for s, gates in zip(reads, pipeline.reads, strict=True) if s is not None),
        (Access(write, pipeline.write),),
        op,
        nest,
        tuple(o.value for o, stream in zip(op.inputs, reads, strict=True) if stream is None),
        pipeline.operators,
        buffers=pipeline.buffers,
    )


def _routing_timing(itensor: ITensor) -> TimingSpec:
    """Timing of a task that passes the tokens of `itensor` on, one a cycle."""
    return TimingSpec(tuple(loop.trip for loop in itensor.loops), 1, READ_WRITE_CYCLES)


@lru_cache(KEPT_TASKS)
def fork_task(name: str, kernel: int, itensor: ITensor, read: str, writes: tuple[str, ...]) -> ForkTask:
    """Copies every token to each of several streams."""
    return ForkTask(name, kernel, _routing_timing(itensor), (Access(read),), tuple(Access(w) for w in writes))


def _chunk_task(op: LinalgOp, nest: Nest, kernel: int, read: str, writes: tuple[str, ...]) -> ChunkTask:
    """Routes the tokens of chunk i, loop `axis` = i, to stream i."""
    (loop,) = (k for k, nest_loop in enumerate(nest.loops) if nest_loop.dim == op.axis)
    outputs = tuple(Access(w, (Gate(loop, i, i + 1),)) for i, w in enumerate(writes))
    timing = TimingSpec(nest.trips, 1, READ_WRITE_CYCLES, restarts=nest.restarts)
    return ChunkTask(c_name(op.name), kernel, timing, (Access(read),), outputs, op, nest)


def _concat_task(
    op: LinalgOp, nest: Nest, kernel: int, shapes: tuple[tuple[int, ...], ...], reads: tuple[str, ...], write: str
) -> ConcatTask:
    """Passes on the tokens of one input after the other along `axis`; an input that lacks the axis has extent 1."""
    (loop,) = (k for k, nest_loop in enumerate(nest.loops) if nest_loop.dim == op.axis)
    inputs: list[Access] = []
    start = 0
    for stream, shape, operand in zip(reads, shapes, op.inputs, strict=True):
        extent = shape[operand.dims.index(op.axis)] if op.axis in operand.dims else 1
        inputs.append(Access(stream, (Gate(loop, start, start + extent),)))
        start += extent
    timing = TimingSpec(nest.trips, 1, READ_WRITE_CYCLES, restarts=nest.restarts)
    return ConcatTask(c_name(op.name), kernel, timing, tuple(inputs), (Access(write),), op, nest)


def _window_task(
    op: LinalgOp, nest: Nest, kernel: int, value: Value, read: str, write: str, platform: Platform
) -> WindowTask:
    """Takes a line in each phase of a row, and passes on the taps of windows of which it is the last line, those of an
    element before the next element comes. Rows of two kinds are two nests in turn, as often as the loops outside say;
    rows of walks that leave `late` are one loop.
    """
    windows, axis, walk = op.windows, op.axis, line_walk(op, value.shape)
    assert windows is not None
    assert axis is not None
    over = sum(loop.dim < axis for loop in nest.loops)
    inside = [loop for loop in nest.loops if loop.dim > axis]
    in_turn = bool(inside) and inside[-1].dim == windows.loop  # taps come one after the other
    trips = tuple(loop.trip for loop in inside)
    outside = nest.trips[:over]
    parts = walk.parts
    if walk.late:
        walks, outside = prod(outside[nest.restarts :]), outside[: nest.restarts]
        (rows,) = parts
        taken = walks * rows.taking
        parts = (rows._replace(rows=taken + walk.late, taking=taken, high=taken + walk.late),)
        over = len(outside)
    nests = [_rows_of_lines(walk, rows, trips, in_turn, (read, write)) for rows in parts]
    within = [loop.trip for loop in inside if loop.dim != windows.loop]
    width = prod(nest.unroll[d] for d in op.inputs[0].dims) * DTYPE_BITS[value.dtype]
    buffers = line_buffers(walk, prod(within), width, platform.memories)
    depth, name = READ_WRITE_CYCLES + BUFFER_CYCLES, c_name(op.name)
    if len(nests) > 1:
        times = prod(outside)
        turns = (Repeat(times, tuple(nests)),) if times > 1 else tuple(nests)
        timing, ends = TimingSpec((), 1, depth), ((Access(read),), (Access(write),))
        return WindowTask(name, kernel, timing, *ends, op, nest, walk, buffers=buffers, turns=turns)
    rows = nests[0]
    timing = TimingSpec((*outside, *rows.trips), 1, depth, restarts=nest.restarts)
    reads, writes = (tuple(access.inside(over) for access in side) for side in (rows.reads, rows.writes))
    return WindowTask(name, kernel, timing, reads, writes, op, nest, walk, buffers=buffers)


def _rows_of_lines(
    walk: LineWalk, rows: Rows, within: tuple[int, ...], in_turn: bool, streams: tuple[str, str]
) -> LoopNest:
    """Rows of a walk, their phases, where there are several, and the loops `within` a line."""
    phased = walk.phases > 1
    trips = (rows.rows, *((rows.phases,) if phased else ()), *within)
    takes, gives = [Gate(0, 0, rows.taking)], [Gate(0, rows.low, rows.high)]
    if phased:
        takes.append(Gate(1, 0, rows.phased))
        gives.append(Gate(1, walk.leaving.start, walk.leaving.stop))
    if in_turn:
        takes.append(Gate(len(trips) - 1, 0, 1))
    reads, writes = (
        (Access(stream, tuple(g for g in gates if (g.low, g.high) != (0, trips[g.loop]))),)
        for stream, gates in zip(streams, (takes, gives), strict=True)
    )
    return LoopNest(trips, reads, writes if rows.high > rows.low else ())


def line_buffers(walk: LineWalk, length: int, width: int, memories: Memories) -> tuple[Buffer, ...]:
    """Memory of the lines that wait, of so many tokens each: a bank for each, since all move on at once. None where no
    line waits.
    """
    if not walk.kept:
        return ()
    return (Buffer("lines", width, length, walk.kept, buffer_cost(width, length, walk.kept, memories).kind),)


@lru_cache(KEPT_TASKS)
def converter_task(
    name: str, kernel: int, converter: Converter, read: str, write: str, platform: Platform, *, param: bool = False
) -> ConverterTask:
    """Re-orders tokens through a buffer, one row of its realisation after the other. That of a `param` which is only
    read again has a word for each token.
    """
    timing, (fill, drain), buffer = _converter_pipeline(converter, platform.memories)
    if param and only_rereads(converter):
        width, depth = converter.source.width, converter.source.tokens
        buffer = Buffer("buffer", width, depth, 1, buffer_cost(width, depth, 1, platform.memories).kind)
    reads, writes = (Access(read, fill),), (Access(write, drain),)
    return ConverterTask(name, kernel, timing, reads, writes, converter, buffers=(buffer,))


def only_rereads(converter: Converter) -> bool:
    """Whether all of it is kept, as it comes, and passed on several times as it came."""
    source, target = converter.source, converter.target
    return converter.shared == 1 and source.element == target.element and source.same_stream(target.without_rereads())


@lru_cache(maxsize=16384)
def _converter_pipeline(converter: Converter, memories: Memories) -> tuple[TimingSpec, tuple[Gates, Gates], Buffer]:
    """Loops over rows, steps and columns, without those that are always of one iteration; gates of fill and drain."""
    chosen, shared = converter.realisation, converter.shared
    trips = (shared + chosen.delay, chosen.steps, chosen.columns)
    kept = [k for k in range(3) if trips[k] > 1 or (k == 1 and trips[2] == 1)]

    def gates(first_row: int, window: Window) -> Gates:
        low = (first_row, window.start, 0)
        high = (first_row + shared, window.start + window.steps, window.each)
        return tuple(Gate(n, low[k], high[k]) for n, k in enumerate(kept) if (low[k], high[k]) != (0, trips[k]))

    timing = TimingSpec(tuple(trips[k] for k in kept), 1, READ_WRITE_CYCLES + BUFFER_CYCLES)
    filled, drained = gates(0, chosen.fill), gates(chosen.delay, chosen.drain)
    return timing, (filled, drained), converter_buffer(converter, memories)


@lru_cache(maxsize=16384)
def plan_packing(streamed: ITensor, channels: int, port_bits: int, row: int = 0, least: int = 1) -> Packing:
    """How a value lies in HBM so that its stream `streamed` reads whole words in order: through as many ports as a
    token is wide, `channels` at most, but no fewer than `least`.

    Loops that re-read do not lengthen the image. Behind such a loop a word never straddles the run that is read again,
    nor rows of `row` tokens, where there are some.
    """
    ports = max(least, min(channels, -(-streamed.width // port_bits)))
    if streamed.width > ports * port_bits:
        return Packing(ports, 1, -(-streamed.width // (ports * port_bits)))
    per_word = gcd(ports * port_bits // streamed.width, row) if row else ports * port_bits // streamed.width
    run = run_of([(loop.trip, loop.dim is None) for loop in streamed.loops], 1)
    return Packing(ports, per_word if run is None else gcd(per_word, run), 1)


@lru_cache(KEPT_TASKS)
def load_task(name: str, load: Transfer, write: str, platform: Platform, row: Row | None = None) -> LoadTask:
    """Reads words from HBM and pushes tokens, those of one `row` where there are some; `words_per_token` cycles a
    token.
    """
    packing = _packing(load)
    timing = _transfer_timing(load.itensor, packing, platform.hbm.read_latency_cycles + READ_WRITE_CYCLES)
    words, last = packing.words_per_token, len(timing.trips) - 1
    writes = (Access(write, (Gate(last, words - 1, words),) if words > 1 else ()),)
    return LoadTask(name, load.kernel, timing, (), writes, _dma(load, platform, row), load.itensor)


def rom_buffer(streamed: ITensor, memories: Memories, *, constant: bool) -> Buffer:
    """Memory of a tensor that stays on the chip: a word for each of its tokens."""
    held = streamed.without_rereads()
    kind = (rom_kind if constant else buffer_kind)(held.width, held.tokens, memories)
    return Buffer("rom", held.width, held.tokens, 1, kind)


@lru_cache(KEPT_TASKS)
def rom_task(name: str, load: Transfer, write: str, platform: Platform) -> RomTask:
    """Pushes the tokens of a tensor that stays on the chip, one a cycle; what is packed lies in an image too."""
    filled = None if load.packing is None else _dma(load, platform)
    buffer = rom_buffer(load.itensor, platform.memories, constant=filled is None)
    depth = READ_WRITE_CYCLES + (0 if buffer.kind == "registers" else BUFFER_CYCLES)
    timing = replace(_routing_timing(load.itensor), depth=depth)
    made = RomTask(name, load.kernel, timing, (), (Access(write),), load.value, load.itensor, filled)
    return replace(made, buffers=(buffer,))


@lru_cache(KEPT_TASKS)
def store_task(
    name: str, store: Transfer, read: str, platform: Platform, kept: Dma | None = None, row: Row | None = None
) -> StoreTask:
    """Packs tokens into words and writes them to HBM in order, as one `row`, or where they are `kept`."""
    packing = _packing(store)
    timing = _transfer_timing(store.itensor, packing, READ_WRITE_CYCLES)
    reads = (Access(read, (Gate(len(timing.trips) - 1, 0, 1),) if packing.words_per_token > 1 else ()),)
    return StoreTask(name, store.kernel, timing, reads, (), kept or _dma(store, platform, row), store.itensor)


def _packing(transfer: Transfer) -> Packing:
    if transfer.packing is None:
        raise VerificationError(f"{transfer.value} is not packed; run materialize-dmas")
    return transfer.packing


def _dma(transfer: Transfer, platform: Platform, row: Row | None = None) -> Dma:
    layout, at = transfer.itensor.without_rereads(), None
    if row is not None:
        layout, at = all_rows(layout, row), BoundLoop(row.axis, Argument(row.argument, row.count - 1))
    return Dma(transfer.value, layout, *_packing(transfer), platform.hbm.port_bits, at)


def _transfer_timing(itensor: ITensor, packing: Packing, depth: int) -> TimingSpec:
    words = packing.words_per_token
    return TimingSpec((*(loop.trip for loop in itensor.loops), *((words,) if words > 1 else ())), 1, depth)
