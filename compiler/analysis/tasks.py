"""Tasks from their parts: the one place where a nest becomes a timing spec, operators and buffers.

The search builds tasks from a LinalgGraph and knobs, the compiled IR is read back through the same functions; so both
give the same TaskGraph.
"""

from collections.abc import Sequence
from math import gcd, prod

from compiler.analysis.banks import converter_banks
from compiler.analysis.memory import buffer_cost
from compiler.analysis.names import c_name
from compiler.analysis.operators import (
    READ_WRITE_CYCLES,
    REGISTER_ACCUMULATORS,
    count_operators,
    initiation_interval,
    pipeline_depth,
)
from compiler.graph.converter import Converter
from compiler.graph.itensor import DTYPE_BITS, ITensor
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.realisation import Window
from compiler.graph.task_graph import Access, Buffer, Dma, Gate, Task, TimingSpec
from compiler.options import Multiplier
from compiler.platforms.platform import Platform

BUFFER_CYCLES = 2  # address and data stage of an on-chip memory


def _read_gates(nest: Nest, dims: Sequence[int]) -> tuple[Gate, ...]:
    """A token is read in the first iteration of the loops that reuse it."""
    return tuple(Gate(k, 0, 1) for k in range(nest.read_level(dims), len(nest.loops)))


def _write_gates(op: LinalgOp, nest: Nest) -> tuple[Gate, ...]:
    """A result leaves in the last iteration of the reduction loops."""
    return tuple(Gate(k, nest.trips[k] - 1, nest.trips[k]) for k in nest.reduction_loops(op.iterators))


def structured_task(
    op: LinalgOp,
    nest: Nest,
    kernel: int,
    reads: Sequence[str | None],
    shapes: Sequence[tuple[int, ...]],
    writes: Sequence[str],
    multiplier: Multiplier,
    platform: Platform,
) -> Task:
    """The task of an operation. `reads[i]` is the stream of input i, None for a scalar passed by value; `shapes[i]` the
    shape of the value that input i reads; `writes` the streams of the outputs.
    """
    if op.kind == "generic":
        return _compute_task(op, nest, kernel, reads, writes[0], multiplier, platform)
    streamed = [stream for stream in reads if stream is not None]
    if op.kind == "chunk":
        return _chunk_task(op, nest, kernel, streamed[0], writes)
    return _concat_task(op, nest, kernel, shapes, streamed, writes[0])


def _compute_task(
    op: LinalgOp,
    nest: Nest,
    kernel: int,
    reads: Sequence[str | None],
    write: str,
    multiplier: Multiplier,
    platform: Platform,
) -> Task:
    assert op.body is not None
    accesses = tuple(
        Access(stream, _read_gates(nest, operand.dims))
        for stream, operand in zip(reads, op.inputs, strict=True)
        if stream is not None
    )
    accumulators = nest.accumulators(op.iterators)
    buffers: tuple[Buffer, ...] = ()
    if accumulators > REGISTER_ACCUMULATORS:
        width = DTYPE_BITS[op.body.dtype_of(op.body.result)]
        banks = prod(nest.unroll[d] for d in op.outputs[0].dims)
        buffers = (Buffer("acc", width, accumulators, banks, buffer_cost(width, accumulators, banks).kind),)
    return Task(
        name=c_name(op.name),
        kind="compute",
        kernel=kernel,
        timing=TimingSpec(
            nest.trips, initiation_interval(op, nest, platform), pipeline_depth(op, nest, multiplier, platform)
        ),
        reads=accesses,
        writes=(Access(write, _write_gates(op, nest)),),
        op=op,
        nest=nest,
        scalars=tuple(o.value for o, stream in zip(op.inputs, reads, strict=True) if stream is None),
        operators=count_operators(op, nest, multiplier),
        buffers=buffers,
    )


def routing_timing(itensor: ITensor) -> TimingSpec:
    """Timing of a task that passes the tokens of `itensor` on, one a cycle."""
    return TimingSpec(tuple(loop.trip for loop in itensor.loops), 1, READ_WRITE_CYCLES)


def fork_task(name: str, kernel: int, itensor: ITensor, read: str, writes: Sequence[str]) -> Task:
    """Copies every token to each of several streams."""
    timing = routing_timing(itensor)
    return Task(name, "fork", kernel, timing, (Access(read),), tuple(Access(w) for w in writes))


def _chunk_task(op: LinalgOp, nest: Nest, kernel: int, read: str, writes: Sequence[str]) -> Task:
    """Routes the tokens of chunk i, loop `axis` = i, to stream i."""
    (loop,) = (k for k, nest_loop in enumerate(nest.loops) if nest_loop.dim == op.axis)
    outputs = tuple(Access(w, (Gate(loop, i, i + 1),)) for i, w in enumerate(writes))
    timing = TimingSpec(nest.trips, 1, READ_WRITE_CYCLES)
    return Task(c_name(op.name), "chunk", kernel, timing, (Access(read),), outputs, op=op, nest=nest)


def _concat_task(
    op: LinalgOp, nest: Nest, kernel: int, shapes: Sequence[tuple[int, ...]], reads: Sequence[str], write: str
) -> Task:
    """Passes on the tokens of one input after the other along `axis`; an input that lacks the axis has extent 1."""
    (loop,) = (k for k, nest_loop in enumerate(nest.loops) if nest_loop.dim == op.axis)
    inputs: list[Access] = []
    start = 0
    for stream, shape, operand in zip(reads, shapes, op.inputs, strict=True):
        extent = shape[operand.dims.index(op.axis)] if op.axis in operand.dims else 1
        inputs.append(Access(stream, (Gate(loop, start, start + extent),)))
        start += extent
    timing = TimingSpec(nest.trips, 1, READ_WRITE_CYCLES)
    return Task(c_name(op.name), "concat", kernel, timing, tuple(inputs), (Access(write),), op=op, nest=nest)


def converter_task(name: str, kernel: int, converter: Converter, read: str, write: str) -> Task:
    """Re-orders tokens through a buffer, one row of its realisation after the other."""
    timing, (fill, drain) = _converter_timing(converter)
    width = DTYPE_BITS[converter.source.dtype]
    banks = prod(converter_banks(converter))
    depth = -(-prod(converter.memory) // banks)
    buffer = Buffer("buffer", width, depth, banks, buffer_cost(width, depth, banks).kind)
    return Task(
        name, "converter", kernel, timing, (Access(read, fill),), (Access(write, drain),),
        buffers=(buffer,), converter=converter,
    )  # fmt: skip


def _converter_timing(converter: Converter) -> tuple[TimingSpec, tuple[tuple[Gate, ...], tuple[Gate, ...]]]:
    """Loops over rows, steps and columns, without those that are always of one iteration; gates of fill and drain."""
    chosen, shared = converter.realisation, converter.shared
    trips = (shared + chosen.delay, chosen.steps, chosen.columns)
    kept = [k for k in range(3) if trips[k] > 1 or (k == 1 and trips[2] == 1)]

    def gates(first_row: int, window: Window) -> tuple[Gate, ...]:
        low = (first_row, window.start, 0)
        high = (first_row + shared, window.start + window.steps, window.each)
        return tuple(Gate(n, low[k], high[k]) for n, k in enumerate(kept) if (low[k], high[k]) != (0, trips[k]))

    timing = TimingSpec(tuple(trips[k] for k in kept), 1, READ_WRITE_CYCLES + BUFFER_CYCLES)
    return timing, (gates(0, chosen.fill), gates(chosen.delay, chosen.drain))


def plan_dma(value: str, streamed: ITensor, channels: int, port_bits: int) -> Dma:
    """Packing of `value` in HBM so that its stream `streamed` reads whole words in order.

    Loops that re-read do not lengthen the image. Behind such a loop a word never straddles the run that is read again.
    """
    layout = streamed.without_rereads()
    ports = max(1, min(channels, -(-streamed.width // port_bits)))
    if streamed.width > ports * port_bits:
        return Dma(value, layout, ports, 1, -(-streamed.width // (ports * port_bits)))
    per_word = ports * port_bits // streamed.width
    if streamed.rereads > 1:
        last = max(k for k, loop in enumerate(streamed.loops) if loop.dim is None)
        per_word = gcd(per_word, prod(loop.trip for loop in streamed.loops[last + 1 :]))
    return Dma(value, layout, ports, per_word, 1)


def load_task(name: str, kernel: int, streamed: ITensor, dma: Dma, write: str, platform: Platform) -> Task:
    """Reads words from HBM and pushes the tokens of `streamed`; `words_per_token` cycles a token."""
    trips = (*(loop.trip for loop in streamed.loops), *((dma.words_per_token,) if dma.words_per_token > 1 else ()))
    gates = (Gate(len(trips) - 1, dma.words_per_token - 1, dma.words_per_token),) if dma.words_per_token > 1 else ()
    timing = TimingSpec(trips, 1, platform.hbm.read_latency_cycles + READ_WRITE_CYCLES)
    return Task(name, "load", kernel, timing, (), (Access(write, gates),), dma=dma)


def store_task(name: str, kernel: int, streamed: ITensor, dma: Dma, read: str) -> Task:
    """Packs the tokens of `streamed` into words and writes them to HBM in order."""
    trips = (*(loop.trip for loop in streamed.loops), *((dma.words_per_token,) if dma.words_per_token > 1 else ()))
    gates = (Gate(len(trips) - 1, 0, 1),) if dma.words_per_token > 1 else ()
    return Task(name, "store", kernel, TimingSpec(trips, 1, READ_WRITE_CYCLES), (Access(read, gates),), (), dma=dma)
