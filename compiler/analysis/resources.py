"""Area of a TaskGraph as csynth would report it: LUT, FF, DSP, BRAM36, URAM and HBM ports (design 3.6)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

from compiler.analysis.area import Shape, counter_bits, fifo_logic, operator_logic, port_logic, port_memory, task_logic
from compiler.analysis.banks import choice_depth, choice_luts, divider_bits
from compiler.analysis.memory import bound_fifo, buffer_memory
from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.graph.engine import Turn
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.program import nests
from compiler.graph.task_graph import (
    CONTROL_DEPTH,
    Buffer,
    ComputeTask,
    ConverterTask,
    DmaTask,
    EngineTask,
    LoadTask,
    MemoryKind,
    RouteTask,
    Stream,
    Task,
    TaskGraph,
    TimingSpec,
    WindowTask,
    told,
)
from compiler.platforms.platform import Platform


@dataclass(frozen=True, slots=True)
class Resources:
    """Amounts of each resource; block RAM counts in BRAM36, halves are BRAM18."""

    lut: float = 0
    ff: float = 0
    dsp: float = 0
    bram36: float = 0
    uram: float = 0
    hbm_ports: float = 0

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(
            self.lut + other.lut,
            self.ff + other.ff,
            self.dsp + other.dsp,
            self.bram36 + other.bram36,
            self.uram + other.uram,
            self.hbm_ports + other.hbm_ports,
        )


def total(parts: Iterable[Resources]) -> Resources:
    """The sum, field by field."""
    amounts = [(p.lut, p.ff, p.dsp, p.bram36, p.uram, p.hbm_ports) for p in parts]
    return Resources(*map(sum, zip(*amounts, strict=True)))


def _register_bits(turn: Turn) -> int:
    """Registers of a computing task's running results: one vector of accumulators, or else the token that it makes."""
    op, nest = turn
    assert op.body is not None
    lanes = prod(nest.unroll[d] for d in op.outputs[0].dims)
    return DTYPE_BITS[op.body.dtype_of(op.body.result)] * lanes


@lru_cache(maxsize=4096)
def _port_area(ports: int, platform: Platform) -> Resources:
    """m_axi adapters of a load or store."""
    bits, words = platform.hbm.port_bits, platform.hbm.burst_words * OUTSTANDING_BURSTS
    port, memory = port_logic(bits, platform.area), port_memory(bits, words, platform.memories)
    return Resources(port.lut * ports, port.ff * ports, 0, memory.bram36 * ports, 0, ports)


class _Process(NamedTuple):
    """What the area model sees of a task. `width`: bits that it reads or writes side by side, whichever is more;
    `registers`: bits of running results; `dividends`: bits that are divided by a constant; `ports` of memory.
    """

    timing: TimingSpec
    width: int
    buffers: tuple[Buffer, ...]
    operators: tuple[tuple[str, int], ...] = ()
    registers: int = 0
    dividends: int = 0
    ports: int = 0


def _route_operators(task: RouteTask, width: int) -> tuple[tuple[str, int], ...]:
    """A multiplexer of all streams that it reads, in words of the core of 32 bits; writing to one of several is a bit
    for each.
    """
    inputs = len(task.reads)
    return (("select", (inputs - 1) * -(-width // 32)),) if inputs > 1 else ()


def _of_window(task: WindowTask, width: int) -> _Process:
    """For each element that is passed on a choice of one tap of those that come in turn, and one of what lies outside
    of all lines, or of a line that repeats, in words of the core of 32 bits. Registers hold the column, and lines of
    one element.
    """
    op, walk = task.op, task.walk
    side = 1 if op.windows is None or op.windows.loop is None else task.nest.unroll[op.windows.loop]
    choices = walk.kernel // side - 1 + (walk.begins_outside or walk.ends_outside or walk.repeat > 1)
    operators = (("select", choices * -(-width // 32)),) if choices else ()
    alone = sum(buffer.bits for buffer in task.buffers if buffer.kind == "registers")
    return _Process(task.timing, width, task.buffers, operators, walk.span * width // side + alone)


def _of_converter(task: ConverterTask, width: int) -> _Process:
    """What leaves is chosen, in words of the core of 32 bits."""
    (buffer,) = task.buffers
    choices = -(-choice_luts(task.converter, buffer) // 32)
    operators = (("select", choices),) if choices else ()
    registers = buffer.bits if buffer.kind == "registers" else 0
    return _Process(task.timing, width, task.buffers, operators, registers, divider_bits(task.converter))


def _process(task: Task, width: int) -> _Process:
    timing, buffers = task.timing, task.buffers
    match task:
        case ComputeTask() | EngineTask():
            registers = 0 if buffers else _register_bits(task.operations[0])
            return _Process(timing, width, buffers, task.operators, registers)
        case RouteTask():
            return _Process(timing, width, buffers, _route_operators(task, width))
        case WindowTask():
            return _of_window(task, width)
        case ConverterTask():
            return _of_converter(task, width)
        case DmaTask():
            return _Process(timing, width, buffers, ports=task.dma.channels)
        case _:
            return _Process(timing, width, buffers)


def _counter_bits(task: Task) -> int:
    """Of the loops; several nests use the same ones, as many as the most demanding has, and one counts the nests."""
    if not task.turns:
        return counter_bits(task.timing.trips)
    written = list(nests(task.turns))
    return max(counter_bits(nest.trips) for nest in written) + counter_bits([len(written)])


@lru_cache(maxsize=16384)
def _task_area(task: Task, width: int, choices: int, platform: Platform) -> Resources:
    process = _process(task, width)
    timing, area = process.timing, platform.area
    cores = ((platform.operators[core], count) for core, count in process.operators)
    lut, ff, dsp, bits = operator_logic(cores, timing.ii)
    shared = bits if timing.ii > 1 else 0
    shape = Shape(_counter_bits(task), timing.depth, max(process.width, bits), len(process.buffers), shared)
    logic, adapter = task_logic(shape, area), _port_area(process.ports, platform)
    remainder, dividends = area.remainder, process.dividends
    lut = lut + choices + logic.lut + area.process.lut + adapter.lut + remainder.lut * dividends
    ff = ff + logic.ff + area.process.ff + adapter.ff + remainder.ff * dividends + process.registers
    bram36, uram = adapter.bram36, 0
    for memory in (buffer_memory(buffer, platform.memories) for buffer in process.buffers):
        lut, bram36, uram = lut + memory.lut, bram36 + memory.bram36, uram + memory.uram
    return Resources(lut, ff, dsp, bram36, uram, process.ports)


def task_resources(task: Task, tasks: TaskGraph, platform: Platform) -> Resources:
    """Operators, control, pipeline registers, buffers and m_axi adapters of one task."""
    stream = tasks.stream
    read = [stream[access.stream].itensor.width for access in task.reads]
    written = [stream[access.stream].itensor.width for access in task.writes]
    one_at_a_time = isinstance(task, RouteTask | LoadTask)  # a token
    width = max((*read, *written)) if one_at_a_time else max(sum(read), sum(written))
    return _task_area(task, width, _row_choices(task, tasks), platform)


def _row_choices(task: Task, tasks: TaskGraph) -> int:
    """LUTs by which the task chooses, for each row of a chunk, among FIFOs of several rows that it reads; a route does
    so in the multiplexer that it has anyway.
    """
    if tasks.abreast.rows == 1:
        return 0
    among = [(tasks.abreast.choices(task.name, a.stream), tasks.stream[a.stream].itensor.width) for a in task.reads]
    if isinstance(task, RouteTask):
        fifos, width = sum(n for n, _ in among), max(width for _, width in among)
        return max(0, choice_depth(fifos) - (len(among) - 1)) * width if fifos > len(among) else 0
    return sum(choice_depth(fifos) * width for fifos, width in among)


def relay_resources(relay: RouteTask, fifo: Stream, platform: Platform) -> Resources:
    """A task that carries one stream on, with the FIFO in front of it."""
    return _task_area(relay, fifo.itensor.width, 0, platform) + stream_resources(fifo, platform)


def kernel_resources(platform: Platform) -> Resources:
    """Control registers of one kernel."""
    return Resources(*platform.area.kernel)


COUNT_BITS = 8  # of how many rows a task is to do


def control_resources(tasks: TaskGraph, platform: Platform) -> Resources:
    """What starts tasks anew for each token, with the FIFOs of its words and of what stores answer; 32 bits each, where
    a task is told a number; nothing where a launch makes one token. Chunks of a prompt have those of their tokens, and
    of credits.
    """
    control, bits = tasks.control, 32
    if control is None:
        return Resources()
    numbers = sum(bool(told(task)) for task in tasks.tasks)
    words = Counter({bits: numbers, COUNT_BITS if control.rows > 1 else 1: len(tasks.tasks) - numbers})
    words += Counter({2 * bits: 1, 1: len(control.kept)})  # a token has 64 bits
    words += Counter({bits: 1, 1: len(control.loads)} if control.rows > 1 else {})
    shape, area = Shape(counter_bits([2**bits]), 1, bits, 0, 0), platform.area
    logic = task_logic(shape, area)
    own = Resources(logic.lut + area.process.lut, logic.ff + area.process.ff)
    fifos = (_fifo_area(None, width, CONTROL_DEPTH, platform) for width, count in words.items() for _ in range(count))
    kept = [_fifo_area(None, bits, control.rows, platform)] * (numbers if control.rows > 1 else 0)  # what rows are told
    return total([own, *fifos, *kept])


def stream_resources(stream: Stream, platform: Platform) -> Resources:
    """The FIFO's memory, control and registers."""
    return _fifo_area(stream.kind, stream.itensor.width, stream.depth, platform)


@lru_cache(maxsize=65536)
def _fifo_area(kind: MemoryKind | None, width: int, depth: int, platform: Platform) -> Resources:
    memory = bound_fifo(kind, width, depth, platform.memories)
    logic = fifo_logic(memory.kind, width, depth, platform)
    return Resources(logic.lut, logic.ff, 0, memory.bram36, memory.uram)


def on_chip_bits(tasks: TaskGraph) -> int:
    """Bits of all converters, accumulators and FIFOs: what fusion keeps on chip instead of in HBM."""
    return sum(s.width * s.depth for s in tasks.streams) + sum(b.bits for t in tasks.tasks for b in t.buffers)
