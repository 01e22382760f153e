"""C++ types of tokens: a lone element, a vector of them, or packed bits where an element is narrower than a byte; and
parts of these, side by side, where they are wider than a FIFO may be.

`hls/packed_token.h` and `hls/wide_token.h` say why, and are the same in C++.
"""

from collections.abc import Sequence
from itertools import count
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.targets.scalar_ops import C_TYPE

MAX_AP_BITS = 1024  # of an ap_uint, unless every source redefines AP_INT_MAX_W

MAX_FIFO_BITS = 4096  # Vitis HLS refuses wider streams (Vitis-Tutorials, issue 426)


def is_packed(itensor: ITensor) -> bool:
    """Whether the stream's tokens are packed bits."""
    return prod(itensor.element) > 1 and DTYPE_BITS[itensor.dtype] < 8


def token_type(itensor: ITensor) -> str:
    """C++ type of one token: the element itself, or the alias of several."""
    elements = prod(itensor.element)
    return C_TYPE[itensor.dtype] if elements == 1 else f"{itensor.dtype}x{elements}"


def parts_of(itensor: ITensor) -> int:
    """FIFOs side by side that carry the stream: each a part of every token, as many elements."""
    elements = prod(itensor.element)
    return next(n for n in count(1) if elements % n == 0 and itensor.width <= n * MAX_FIFO_BITS)


def fifo_type(itensor: ITensor) -> str:
    """C++ type of what a FIFO of the stream carries."""
    return f"{token_type(itensor)}::Part" if parts_of(itensor) > 1 else token_type(itensor)


def part_name(name: str, part: int) -> str:
    """What the FIFO, or the parameter, for that part of each token is called; an array's subscripts stay behind."""
    head, bracket, subscripts = name.partition("[")
    return f"{head}_part{part}{bracket}{subscripts}" if part else name


def part_names(name: str, itensor: ITensor) -> tuple[str, ...]:
    """Those of all parts."""
    return tuple(part_name(name, part) for part in range(parts_of(itensor)))


def token_alias(itensor: ITensor, port_bits: int) -> str | None:
    """Definition of the alias, if the token has several elements; a memory port has `port_bits`."""
    elements, parts = prod(itensor.element), parts_of(itensor)
    if elements == 1:
        return None
    if parts > 1:
        part = itensor.width // parts
        word = _word_bits(part, port_bits) if is_packed(itensor) else DTYPE_BITS[itensor.dtype]
        kind = f"ap_uint<{word}>" if is_packed(itensor) else C_TYPE[itensor.dtype]
        definition = f"WideToken<{kind}, {part // word}, {parts}>"
    elif not is_packed(itensor):
        definition = f"hls::vector<{C_TYPE[itensor.dtype]}, {elements}>"
    elif (word := _word_bits(itensor.width, port_bits)) == itensor.width:
        definition = f"ap_uint<{word}>"
    else:
        definition = f"hls::vector<ap_uint<{word}>, {itensor.width // word}>"
    return f"using {token_type(itensor)} = {definition};"


def _word_bits(width: int, port_bits: int) -> int:
    """Bits of the words that a packed token is made of: all of them, or a power of two that divides them and that no
    port splits.
    """
    return width if width <= MAX_AP_BITS else min(port_bits or width, width & -width)


def word_bits(itensor: ITensor, port_bits: int) -> int:
    """Of the words that its packed tokens are made of."""
    return _word_bits(itensor.width // parts_of(itensor), port_bits)


def recorded_elements(raws: Sequence[bytes], itensor: ITensor, port_bits: int) -> bytes:
    """Tokens as C simulation records them, part by part, as elements in their native types: packed bits become a byte
    an element.
    """
    part, tokens = _part(itensor), itensor.without_rereads().tokens
    found = [_recorded_elements(raw, part, port_bits) for raw in raws]
    if len(found) == 1:
        return found[0]
    return np.hstack([np.frombuffer(raw, np.uint8).reshape(tokens, -1) for raw in found]).tobytes()


def stored_tokens(elements: NDArray[Any], itensor: ITensor, port_bits: int) -> tuple[bytes, ...]:
    """The reverse: rows of elements, one a token, as the parts of tokens lie in memory."""
    part = _part(itensor)
    return tuple(_stored_tokens(e, part, port_bits) for e in np.split(elements, parts_of(itensor), axis=-1))


def _part(itensor: ITensor) -> ITensor:
    """Tokens as wide as a part."""
    elements = prod(itensor.element) // parts_of(itensor)
    return ITensor((elements,), itensor.dtype, (Loop(1, elements, 0),))


def _recorded_elements(raw: bytes, itensor: ITensor, port_bits: int) -> bytes:
    if not is_packed(itensor):
        return raw
    word = _word_bits(itensor.width, port_bits)
    words = np.frombuffer(raw, np.uint8).reshape(-1, _stored_bytes(word))
    bits = np.unpackbits(words, axis=1, bitorder="little")[:, :word]
    return _elements(bits.reshape(-1, DTYPE_BITS[itensor.dtype])).tobytes()


def _stored_tokens(elements: NDArray[Any], itensor: ITensor, port_bits: int) -> bytes:
    if not is_packed(itensor):
        return np.ascontiguousarray(elements).tobytes()
    word = _word_bits(itensor.width, port_bits)
    shifts = np.arange(DTYPE_BITS[itensor.dtype], dtype=np.uint8)
    bits = (elements.astype(np.uint8)[..., None] >> shifts & 1).reshape(-1, word)
    words = np.packbits(bits, axis=1, bitorder="little")
    return np.pad(words, ((0, 0), (0, _stored_bytes(word) - words.shape[1]))).tobytes()


def _stored_bytes(width: int) -> int:
    """Size of an ap_uint of our stand-in headers."""
    return next((size for size in (1, 2, 4, 8) if width <= 8 * size), -(-width // 64) * 8)


def _elements(bits: NDArray[Any]) -> NDArray[Any]:
    """Rows of bits, lowest first, as one byte each: i4 sign-extended, i1 as it is."""
    if bits.shape[1] == 1:
        return bits[:, 0]
    values = np.packbits(bits, axis=1, bitorder="little")[:, 0].astype(np.int8)
    return (values ^ 8) - 8
