"""Which memory primitive holds a buffer or FIFO, and how many of them (u55c_facts "Memories", AMD UG573)."""

from functools import lru_cache
from typing import NamedTuple

from compiler.graph.task_graph import Buffer, MemoryKind, Stream

BRAM18_GEOMETRIES = ((16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36))
URAM_GEOMETRY = (4096, 72)
LUTRAM_DEPTH = 64  # one LUT stores 64 bits, single port
SRL_DEPTH = 32
REGISTER_DEPTH = 2  # a FIFO that is no deeper is made of flip-flops

# Where block RAM and URAM would both do, weigh one URAM as this many BRAM36: the part has 2016 and 960 of them.
BRAM36_PER_URAM = 2016 / 960


class MemoryCost(NamedTuple):
    """Primitives of one memory: LUTs, block RAMs of 36 Kbit (halves possible), URAMs."""

    kind: MemoryKind
    lut: int
    bram36: float
    uram: int


def _bram36(width: int, depth: int) -> float:
    return min(-(-width // w) * -(-depth // d) for d, w in BRAM18_GEOMETRIES) / 2


def _urams(width: int, depth: int) -> int:
    return -(-width // URAM_GEOMETRY[1]) * -(-depth // URAM_GEOMETRY[0])


def _block_kind(width: int, depth: int) -> MemoryKind:
    return "uram" if _urams(width, depth) * BRAM36_PER_URAM < _bram36(width, depth) else "bram"


def buffer_kind(width: int, depth: int) -> MemoryKind:
    """The fast rule: registers, LUTRAM, else the block memory that takes less of the part."""
    if depth <= 1:
        return "registers"
    if depth <= LUTRAM_DEPTH or width * depth <= 1024:
        return "lutram"
    return _block_kind(width, depth)


def fifo_kind(width: int, depth: int) -> MemoryKind:
    """The fast rule, which is how csynth maps a FIFO, URAM aside: that is ours to ask for."""
    if depth <= REGISTER_DEPTH or width * depth <= 1024:
        return "registers"
    if depth <= 16 or (depth <= 128 and width * depth <= 8192):
        return "lutram"
    return _block_kind(width, depth)


@lru_cache(maxsize=65536)
def buffer_of(kind: MemoryKind, width: int, depth: int, banks: int) -> MemoryCost:
    """A buffer of `banks` memories of `depth` words of `width` bits in this primitive. Each bank has a port that reads
    and one that writes every cycle, which all of them offer (block RAM at 36 and 72 bits in this mode only).
    """
    match kind:
        case "registers":
            return MemoryCost(kind, 0, 0.0, 0)
        case "lutram":
            return MemoryCost(kind, banks * 2 * width * -(-depth // LUTRAM_DEPTH), 0.0, 0)
        case "bram":
            return MemoryCost(kind, 0, banks * _bram36(width, depth), 0)
        case "uram":
            return MemoryCost(kind, 0, 0.0, banks * _urams(width, depth))


@lru_cache(maxsize=65536)
def fifo_of(kind: MemoryKind, width: int, depth: int) -> MemoryCost:
    """Memory of a stream FIFO in this primitive; csynth's FIFO BRAM figures ignore depth, these do not. Its control and
    registers are data of the platform, by `fifo_logic_kind`.
    """
    match kind:
        case "registers":
            return MemoryCost(kind, _srl_luts(width, depth), 0.0, 0)
        case "lutram":
            return MemoryCost(kind, 2 * width * -(-depth // LUTRAM_DEPTH), 0.0, 0)
        case "bram":
            return MemoryCost(kind, 0, _bram36(width, depth), 0)
        case "uram":
            return MemoryCost(kind, 0, 0.0, _urams(width, depth))


def _srl_luts(width: int, depth: int) -> int:
    """Two shift registers of up to 16 bits share a LUT, one of 32 bits takes it whole; up to 2 words are flip-flops."""
    if depth <= REGISTER_DEPTH:
        return 0
    return -(-width // 2) if depth <= SRL_DEPTH // 2 else width * -(-depth // SRL_DEPTH)


def fifo_logic_kind(kind: MemoryKind, depth: int) -> str:
    """Which entry of the platform's `[area.fifo]` a FIFO's control and registers are."""
    return "srl" if kind == "registers" and depth > REGISTER_DEPTH else kind


@lru_cache(maxsize=65536)
def buffer_cost(width: int, depth: int, banks: int) -> MemoryCost:
    """The buffer by the fast rule: registers, LUTRAM, else the block memory that takes less of the part."""
    return buffer_of(buffer_kind(width, depth), width, depth, banks)


@lru_cache(maxsize=65536)
def fifo_cost(width: int, depth: int) -> MemoryCost:
    """The FIFO by the fast rule, which is how csynth maps it, URAM aside: that is ours to ask for."""
    return fifo_of(fifo_kind(width, depth), width, depth)


def stream_memory(stream: Stream) -> MemoryCost:
    """The FIFO of a stream in the memory that it is bound to, else by the fast rule."""
    if stream.kind is None:
        return fifo_cost(stream.width, stream.depth)
    return fifo_of(stream.kind, stream.width, stream.depth)


def buffer_memory(buffer: Buffer) -> MemoryCost:
    """A buffer in the memory that it is bound to."""
    return buffer_of(buffer.kind, buffer.width, buffer.depth, buffer.banks)
