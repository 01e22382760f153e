"""Which memory primitive holds a buffer or FIFO, and how many of them.

What a primitive holds is data of the platform; which one HLS takes for a FIFO is a fact of the tool and stands here.
"""

from functools import lru_cache
from typing import NamedTuple

from compiler.graph.task_graph import Buffer, MemoryKind, Stream
from compiler.platforms.memories import Memories

REGISTER_DEPTH = 2  # a FIFO that is no deeper is made of flip-flops
SMALL_BITS = 1024  # no more than that is not worth a block memory


class MemoryCost(NamedTuple):
    """Primitives of one memory: LUTs, block RAMs of 36 Kbit (halves possible), URAMs."""

    kind: MemoryKind
    lut: int
    bram36: float
    uram: int


def _bram36(width: int, depth: int, memories: Memories) -> float:
    return min(-(-width // w) * -(-depth // d) for d, w in memories.bram18) / 2


def _urams(width: int, depth: int, memories: Memories) -> int:
    assert memories.uram is not None
    return -(-width // memories.uram[1]) * -(-depth // memories.uram[0])


def block_kinds(memories: Memories) -> tuple[MemoryKind, ...]:
    """The block memories that the part has."""
    return ("bram",) if memories.uram is None else ("bram", "uram")


def _block_kind(width: int, depth: int, memories: Memories) -> MemoryKind:
    """The one that takes less of the part."""
    if memories.uram is None:
        return "bram"
    urams, bram36 = _urams(width, depth, memories), _bram36(width, depth, memories)
    return "uram" if urams * memories.bram36_per_uram < bram36 else "bram"


def buffer_kind(width: int, depth: int, memories: Memories) -> MemoryKind:
    """The fast rule: registers, LUTRAM, else the block memory that takes less of the part."""
    if depth <= 1:
        return "registers"
    if depth <= memories.lutram_depth or width * depth <= SMALL_BITS:
        return "lutram"
    return _block_kind(width, depth, memories)


def rom_kind(width: int, depth: int, memories: Memories) -> MemoryKind:
    """The fast rule for what is never written: URAM begins with zeros (UG573), so it holds no constants."""
    kind = buffer_kind(width, depth, memories)
    return "bram" if kind == "uram" else kind


def csynth_fifo_kind(width: int, depth: int) -> MemoryKind:
    """How csynth maps a FIFO, on any part."""
    if depth <= REGISTER_DEPTH or width * depth <= SMALL_BITS:
        return "registers"
    return "lutram" if depth <= 16 or (depth <= 128 and width * depth <= 8192) else "bram"


def fifo_kind(width: int, depth: int, memories: Memories) -> MemoryKind:
    """The fast rule, which is how csynth maps a FIFO, but for what is ours to ask for: URAM, and of wide tokens shift
    registers of a LUT a bit or less, where csynth by itself takes LUTRAM of more, or block RAM behind registers of as
    many LUTs.
    """
    kind = "registers" if depth <= memories.srl_depth else csynth_fifo_kind(width, depth)
    return _block_kind(width, depth, memories) if kind == "bram" else kind


@lru_cache(maxsize=65536)
def buffer_of(kind: MemoryKind, width: int, depth: int, banks: int, memories: Memories) -> MemoryCost:
    """A buffer of `banks` memories of `depth` words of `width` bits in this primitive. Each bank has a port that reads
    and one that writes every cycle, which all of them offer (block RAM at 36 and 72 bits in this mode only).
    """
    match kind:
        case "registers":
            return MemoryCost(kind, 0, 0.0, 0)
        case "lutram":
            return MemoryCost(kind, banks * 2 * width * -(-depth // memories.lutram_depth), 0.0, 0)
        case "bram":
            return MemoryCost(kind, 0, banks * _bram36(width, depth, memories), 0)
        case "uram":
            return MemoryCost(kind, 0, 0.0, banks * _urams(width, depth, memories))


@lru_cache(maxsize=65536)
def fifo_of(kind: MemoryKind, width: int, depth: int, memories: Memories) -> MemoryCost:
    """Memory of a stream FIFO in this primitive; csynth's FIFO BRAM figures ignore depth, these do not. Its control and
    registers are data of the platform, by `fifo_logic_kind`.
    """
    match kind:
        case "registers":
            return MemoryCost(kind, _srl_luts(width, depth, memories.srl_depth), 0.0, 0)
        case "lutram":
            return MemoryCost(kind, 2 * width * -(-depth // memories.lutram_depth), 0.0, 0)
        case "bram":
            return MemoryCost(kind, 0, _bram36(width, depth, memories), 0)
        case "uram":
            return MemoryCost(kind, 0, 0.0, _urams(width, depth, memories))


def _srl_luts(width: int, depth: int, longest: int) -> int:
    """Two shift registers of half the `longest` share a LUT, one of that takes it; up to 2 words are flip-flops."""
    if depth <= REGISTER_DEPTH:
        return 0
    return -(-width // 2) if depth <= longest // 2 else width * -(-depth // longest)


def fifo_logic_kind(kind: MemoryKind, depth: int) -> str:
    """Which entry of the platform's `[area.fifo]` a FIFO's control and registers are."""
    return "srl" if kind == "registers" and depth > REGISTER_DEPTH else kind


@lru_cache(maxsize=65536)
def buffer_cost(width: int, depth: int, banks: int, memories: Memories) -> MemoryCost:
    """The buffer by the fast rule: registers, LUTRAM, else the block memory that takes less of the part."""
    return buffer_of(buffer_kind(width, depth, memories), width, depth, banks, memories)


@lru_cache(maxsize=65536)
def fifo_cost(width: int, depth: int, memories: Memories) -> MemoryCost:
    """The FIFO by the fast rule."""
    return fifo_of(fifo_kind(width, depth, memories), width, depth, memories)


def bound_fifo(kind: MemoryKind | None, width: int, depth: int, memories: Memories) -> MemoryCost:
    """A FIFO in the memory that it is bound to, else by the fast rule."""
    return fifo_cost(width, depth, memories) if kind is None else fifo_of(kind, width, depth, memories)


def stream_memory(stream: Stream, memories: Memories) -> MemoryCost:
    """The FIFO of a stream."""
    return bound_fifo(stream.kind, stream.width, stream.depth, memories)


def buffer_memory(buffer: Buffer, memories: Memories) -> MemoryCost:
    """A buffer in the memory that it is bound to."""
    return buffer_of(buffer.kind, buffer.width, buffer.depth, buffer.banks, memories)
