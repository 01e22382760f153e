"""Banks of a converter's buffer, how an index finds its bank, and what they are made of.

A bank for every element that a token of either side moves at once: along each dimension as many as both sides' extents
have as least common multiple. The bank of an offset is its remainder by that number. Where it is a power of two, that
is wiring. Else the array gets a dimension of its own for the banks if both sides step in whole banks or stay within
one, so that counters give the bank; what is left costs a divider for each element of a token.

Each bit that leaves is chosen among the banks that may hold it. Where few words are kept in each of many banks, which
is what a transposition of wide tokens needs, registers and wider choices take fewer LUTs than memories of LUTs.
"""

from dataclasses import replace
from math import lcm, prod

from compiler.analysis.memory import buffer_kind, buffer_memory
from compiler.graph.converter import Converter, box_of
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.task_graph import Buffer
from compiler.platforms.memories import Memories


def converter_banks(converter: Converter) -> tuple[int, ...]:
    """Cyclic partition of each buffered dimension so that a token of either side moves in one cycle."""
    return tuple(lcm(s, t) for s, t in zip(converter.source.element, converter.target.element, strict=True))


def _odd_banks(converter: Converter) -> dict[int, int]:
    """Banks along each dimension that has more than one row of them, and a number that is no power of two."""
    banks = enumerate(converter_banks(converter))
    return {d: n for d, n in banks if n & (n - 1) and n < converter.half[d]}


def _sides(converter: Converter) -> tuple[tuple[ITensor, tuple[Loop, ...]], ...]:
    box = box_of(converter.source, converter.target)
    return (converter.source, box.fill), (converter.target, box.drain)


def _ends_at(loops: tuple[Loop, ...], dim: int, bank: int) -> bool:
    """Whether each loop along `dim` can be cut so that one part steps in whole banks and the other within one."""
    return all(
        loop.step % bank == 0 or bank % (loop.step * loop.trip) == 0
        or (bank % loop.step == 0 and loop.step * loop.trip % bank == 0)
        for loop in loops
        if loop.dim == dim
    )  # fmt: skip


def banks_apart(converter: Converter) -> dict[int, int]:
    """Dimensions of which the banks are a dimension of the array, with their number."""
    odd = _odd_banks(converter)
    sides = _sides(converter) if odd else ()
    return {d: n for d, n in odd.items() if all(_ends_at(loops, d, n) for _, loops in sides)}


def divider_bits(converter: Converter) -> int:
    """Bits of the dividends of all remainders and quotients that indices of the buffer need: two for each element of a
    token that does not always start in the same bank. What a bit costs is data of the platform.
    """
    apart = banks_apart(converter)
    bits = 0
    for dim, banks in _odd_banks(converter).items():
        if dim not in apart:
            elements = [itensor.element[dim] for itensor, _ in _sides(converter) if itensor.element[dim] != banks]
            bits += 2 * sum(elements) * converter.half[dim].bit_length()
    return bits


LUT_INPUTS = 4  # data inputs of the multiplexer that is one LUT; those beside it join wider ones (UG574)
FF_PRICE = 0.25  # of a LUT: a slice has twice as many, and designs run out of LUTs first


def choice_depth(among: int) -> int:
    """LUTs of each bit by which one of so many is chosen."""
    return -(-among // LUT_INPUTS) if among > 1 else 0


def choice_luts(converter: Converter, buffer: Buffer) -> int:
    """LUTs that choose what leaves among banks, or registers."""
    words = buffer.banks * (buffer.depth if buffer.kind == "registers" else 1)
    among = words // prod(converter.target.element)
    return choice_depth(among) * converter.target.width


def converter_memory(converter: Converter, memories: Memories) -> Buffer:
    """The buffer of a converter by the fast rule: memories, or registers where each holds a word."""
    width, banks = DTYPE_BITS[converter.source.dtype], prod(converter_banks(converter))
    depth = -(-prod(converter.memory) // banks)
    return Buffer("buffer", width, depth, banks, buffer_kind(width, depth, memories))


def converter_buffer(converter: Converter, memories: Memories) -> Buffer:
    """The buffer of a converter: by the fast rule, or registers where these take less of the part."""
    kept = converter_memory(converter, memories)
    if kept.kind != "lutram" or _odd_banks(converter):
        return kept
    held = replace(kept, kind="registers")
    of_registers = choice_luts(converter, held) + FF_PRICE * held.bits
    of_memory = choice_luts(converter, kept) + buffer_memory(kept, memories).lut
    return held if of_registers < of_memory else kept
