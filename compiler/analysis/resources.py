"""Area of a TaskGraph as csynth would report it: LUT, FF, DSP, BRAM36, URAM and HBM ports (design 3.6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from compiler.analysis.area import Shape, counter_bits, fifo_logic, operator_logic, port_logic, port_memory, task_logic
from compiler.analysis.banks import divider_bits
from compiler.analysis.memory import buffer_memory, stream_memory
from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.task_graph import ComputeTask, ConverterTask, DmaTask, Stream, Task, TaskGraph
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


def _register_bits(task: ComputeTask) -> int:
    """Registers of a computing task's running results: one vector of accumulators, or else the token that it makes."""
    op, nest = task.op, task.nest
    assert op.body is not None
    lanes = prod(nest.unroll[d] for d in op.outputs[0].dims)
    return DTYPE_BITS[op.body.dtype_of(op.body.result)] * lanes


def task_shape(task: Task, tasks: TaskGraph, result_bits: int) -> Shape:
    """What the area model sees of a task whose operators have so many result bits."""
    stream = tasks.stream
    reads = sum(stream[a.stream].width for a in task.reads)
    writes = sum(stream[a.stream].width for a in task.writes)
    timing = task.timing
    return Shape(
        counter_bits(timing.trips),
        timing.depth,
        max(reads, writes, result_bits),
        len(task.buffers),
        result_bits if timing.ii > 1 else 0,
    )


@lru_cache(maxsize=16384)
def _operator_area(
    operators: tuple[tuple[str, int], ...], ii: int, platform: Platform
) -> tuple[float, float, float, int]:
    return operator_logic(((platform.operators[core], count) for core, count in operators), ii)


@lru_cache(maxsize=4096)
def _port_area(ports: int, platform: Platform) -> Resources:
    """m_axi adapters of a load or store."""
    bits, words = platform.hbm.port_bits, platform.hbm.burst_words * OUTSTANDING_BURSTS
    port, memory = port_logic(bits, platform.area), port_memory(bits, words, platform.memories)
    return Resources(port.lut * ports, port.ff * ports, 0, memory.bram36 * ports, 0, ports)


def task_resources(task: Task, tasks: TaskGraph, platform: Platform) -> Resources:
    """Operators, control, pipeline registers, buffers and m_axi adapters of one task."""
    area = platform.area
    counts = task.operators if isinstance(task, ComputeTask) else ()
    lut, ff, dsp, bits = _operator_area(counts, task.timing.ii, platform)
    logic = task_logic(task_shape(task, tasks, bits), area)
    lut, ff, bram36, uram = lut + logic.lut + area.process.lut, ff + logic.ff + area.process.ff, 0.0, 0
    ports = 0
    match task:
        case DmaTask():
            ports = task.dma.channels
            adapter = _port_area(ports, platform)
            lut, ff, bram36 = lut + adapter.lut, ff + adapter.ff, adapter.bram36
        case ConverterTask():
            dividends = divider_bits(task.converter)
            lut, ff = lut + area.remainder.lut * dividends, ff + area.remainder.ff * dividends
        case ComputeTask() if not task.buffers:
            ff += _register_bits(task)
        case _:
            pass
    for memory in (buffer_memory(buffer, platform.memories) for buffer in task.buffers):
        lut, bram36, uram = lut + memory.lut, bram36 + memory.bram36, uram + memory.uram
    return Resources(lut, ff, dsp, bram36, uram, ports)


def kernel_resources(tasks: TaskGraph, platform: Platform) -> Resources:
    """Control registers of all kernels."""
    control = platform.area.kernel
    return Resources(control.lut * tasks.kernels, control.ff * tasks.kernels)


def stream_resources(stream: Stream, platform: Platform) -> Resources:
    """The FIFO's memory, control and registers."""
    memory = stream_memory(stream, platform.memories)
    logic = fifo_logic(memory.kind, stream.width, stream.depth, platform)
    return Resources(logic.lut, logic.ff, 0, memory.bram36, memory.uram)


def on_chip_bits(tasks: TaskGraph) -> int:
    """Bits of all converters, accumulators and FIFOs: what fusion keeps on chip instead of in HBM."""
    return sum(s.width * s.depth for s in tasks.streams) + sum(b.bits for t in tasks.tasks for b in t.buffers)
