"""Banks of a converter's buffer, and how an index finds its bank.

A bank for every element that a token of either side moves at once: along each dimension as many as both sides' extents
have as least common multiple. The bank of an offset is its remainder by that number. Where it is a power of two, that
is wiring. Else the array gets a dimension of its own for the banks if both sides step in whole banks or stay within
one, so that counters give the bank; what is left costs a divider for each element of a token.
"""

from math import lcm

from compiler.graph.converter import Converter, box_of
from compiler.graph.itensor import ITensor, Loop


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
