"""Which memory primitive holds a buffer or FIFO, and how many of them (u55c_facts "Memories", AMD UG573)."""

from functools import lru_cache
from typing import NamedTuple

from compiler.graph.task_graph import MemoryKind

BRAM18_GEOMETRIES = ((16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36))
URAM_GEOMETRY = (4096, 72)
LUTRAM_DEPTH = 64  # one LUT stores 64 bits, single port
SRL_DEPTH = 32

# Where block RAM and URAM would both do, weigh one URAM as this many BRAM36: the part has 2016 and 960 of them.
BRAM36_PER_URAM = 2016 / 960


class MemoryCost(NamedTuple):
    """Primitives of one memory: LUTs, block RAMs of 36 Kbit (halves possible), URAMs."""

    kind: MemoryKind
    lut: int
    bram36: float
    uram: int


def _block_cost(width: int, depth: int) -> tuple[MemoryKind, float, int]:
    bram36 = min(-(-width // w) * -(-depth // d) for d, w in BRAM18_GEOMETRIES) / 2
    uram = -(-width // URAM_GEOMETRY[1]) * -(-depth // URAM_GEOMETRY[0])
    if uram * BRAM36_PER_URAM < bram36:
        return "uram", 0.0, uram
    return "bram", bram36, 0


@lru_cache(maxsize=65536)
def buffer_cost(width: int, depth: int, banks: int) -> MemoryCost:
    """A buffer of `banks` memories of `depth` words of `width` bits: registers, LUTRAM, else the cheaper block kind."""
    if depth <= 1:
        return MemoryCost("registers", 0, 0.0, 0)
    if depth <= LUTRAM_DEPTH or width * depth <= 1024:
        return MemoryCost("lutram", banks * 2 * width * -(-depth // LUTRAM_DEPTH), 0.0, 0)
    kind, bram36, uram = _block_cost(width, depth)
    return MemoryCost(kind, 0, banks * bram36, banks * uram)


@lru_cache(maxsize=65536)
def fifo_cost(width: int, depth: int) -> MemoryCost:
    """A stream FIFO by the mapping rules that csynth reports show; its FIFO BRAM figures ignore depth, these do not."""
    if depth <= 2 or width * depth <= 1024:
        return MemoryCost("registers", width * -(-depth // SRL_DEPTH) + 20, 0.0, 0)
    if depth <= 16 or (depth <= 128 and width * depth <= 8192):
        return MemoryCost("lutram", 2 * width * -(-depth // LUTRAM_DEPTH) + 40, 0.0, 0)
    kind, bram36, uram = _block_cost(width, depth)
    return MemoryCost(kind, 60, bram36, uram)
