"""Area of a TaskGraph: LUT, FF, DSP, BRAM36, URAM and HBM ports (design 3.6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from compiler.analysis.banks import divider_logic
from compiler.analysis.memory import buffer_memory, stream_memory
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.platforms.platform import Platform

# Control of one pipelined task, and of one m_axi adapter with its 512-bit data path (csynth Instance tables).
TASK_LUT, TASK_FF = 220, 180
LOOP_LUT, LOOP_FF = 40, 35
PORT_LUT, PORT_FF, PORT_BRAM36 = 1600, 2200, 7.5
PIPELINE_REGISTER_SHARE = 0.5  # of the token bits that a pipeline stage carries along


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


def _register_bits(task: Task) -> int:
    """Registers of a computing task's running results: one vector of accumulators, or else the token that it makes."""
    op, nest = task.op, task.nest
    assert op is not None
    assert op.body is not None
    assert nest is not None
    lanes = prod(nest.unroll[d] for d in op.outputs[0].dims)
    return DTYPE_BITS[op.body.dtype_of(op.body.result)] * lanes


def task_resources(task: Task, tasks: TaskGraph, platform: Platform) -> Resources:
    """Operators, control, pipeline registers, buffers and m_axi adapters of one task."""
    lut, ff, dsp = TASK_LUT + LOOP_LUT * len(task.timing.trips), TASK_FF + LOOP_FF * len(task.timing.trips), 0.0
    for core, count in task.operators:
        operator = platform.operators[core]
        # An operator that starts every `ii` cycles is shared between that many lanes.
        used = -(-count // task.timing.ii)
        lut, ff, dsp = lut + used * operator.lut, ff + used * operator.ff, dsp + used * operator.dsp
    width = sum(tasks.stream[a.stream].width for a in (*task.reads, *task.writes))
    ff += int(PIPELINE_REGISTER_SHARE * width * min(task.timing.depth, 16))
    ports = task.dma.channels if task.dma is not None else 0
    lut, ff, bram36, uram = lut + PORT_LUT * ports, ff + PORT_FF * ports, PORT_BRAM36 * ports, 0
    if task.converter is not None:
        divider_lut, divider_ff = divider_logic(task.converter)
        lut, ff = lut + divider_lut, ff + divider_ff
    for memory in map(buffer_memory, task.buffers):
        lut, bram36, uram = lut + memory.lut, bram36 + memory.bram36, uram + memory.uram
    if task.kind == "compute" and not task.buffers:
        ff += _register_bits(task)
    return Resources(lut, ff, dsp, bram36, uram, ports)


def stream_resources(stream: Stream) -> Resources:
    """The FIFO's memory and its output register."""
    memory = stream_memory(stream)
    return Resources(memory.lut, stream.width, 0, memory.bram36, memory.uram)


def on_chip_bits(tasks: TaskGraph) -> int:
    """Bits of all converters, accumulators and FIFOs: what fusion keeps on chip instead of in HBM."""
    return sum(s.width * s.depth for s in tasks.streams) + sum(b.bits for t in tasks.tasks for b in t.buffers)
