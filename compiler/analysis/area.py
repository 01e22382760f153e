"""The area model: what a shape costs by a platform's coefficients. One definition for designs and for calibration.

A shape is what both a task of ours and a module of a csynth report have: loop counters, pipeline stages, width of the
data path, memories, operators. Amounts are those that csynth reports.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.memory import MemoryCost, fifo_logic_kind, fifo_of
from compiler.graph.task_graph import MemoryKind
from compiler.platforms.area import AreaModel, Logic
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Operator, Platform


class Shape(NamedTuple):
    """A pipelined process. `bits`: the widest place of its data path; `shared_bits`: result bits of operators that
    lanes take turns with because the loop starts only every II cycles.
    """

    counter_bits: int
    stages: int
    bits: int
    memories: int
    shared_bits: int


def counter_bits(trips: Iterable[int]) -> int:
    """Bits of the counters of loops with these tripcounts."""
    return sum((trip - 1).bit_length() for trip in trips)


def operator_logic(cores: Iterable[tuple[Operator, int]], ii: int) -> tuple[float, float, float, int]:
    """LUT, FF, DSP of operator cores of which so many start every `ii` cycles, and their result bits before sharing."""
    lut = ff = dsp = 0.0
    bits = 0
    for core, count in cores:
        used = -(-count // ii)
        lut, ff, dsp, bits = lut + used * core.lut, ff + used * core.ff, dsp + used * core.dsp, bits + count * core.bits
    return lut, ff, dsp, bits


def task_logic(shape: Shape, area: AreaModel) -> Logic:
    """A process beside its operators and memories."""
    a = area.task
    amounts = (
        a.base.lut + a.counter_bit.lut * shape.counter_bits + a.stage.lut * shape.stages + a.bit.lut * shape.bits
        + a.memory.lut * shape.memories + a.shared_bit.lut * shape.shared_bits,
        a.base.ff + a.counter_bit.ff * shape.counter_bits + a.stage.ff * shape.stages + a.bit.ff * shape.bits
        + a.memory.ff * shape.memories + a.shared_bit.ff * shape.shared_bits,
    )  # fmt: skip
    return Logic(*amounts)


def port_logic(bits: int, area: AreaModel) -> Logic:
    """One direction of an m_axi adapter with a data path of so many bits."""
    base, bit = area.port.base, area.port.bit
    return Logic(base.lut + bit.lut * bits, base.ff + bit.ff * bits)


def fifo_memory(kind: MemoryKind, width: int, depth: int, memories: Memories) -> MemoryCost:
    """The FIFO's memory as csynth sees it: with the width rounded up to a power of two."""
    return fifo_of(kind, 1 << (width - 1).bit_length(), depth, memories)


def fifo_logic(kind: MemoryKind, width: int, depth: int, platform: Platform) -> Logic:
    """LUTs and FFs of a FIFO, its memory's LUTs included."""
    wide, wire = 1 << (width - 1).bit_length(), platform.area.fifo[fifo_logic_kind(kind, depth)]
    lut = fifo_memory(kind, width, depth, platform.memories).lut + wire.base.lut + wire.bit.lut * wide
    return Logic(lut, wire.base.ff + wire.bit.ff * wide)


@lru_cache(maxsize=64)
def port_memory(bits: int, words: int, memories: Memories) -> MemoryCost:
    """Block RAM of one direction of an m_axi adapter that buffers `words` words: all bursts that may be outstanding."""
    return fifo_of("bram", bits, words, memories)
