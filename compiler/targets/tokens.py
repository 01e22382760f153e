"""C++ types of tokens: a lone element, a vector of them, or packed bits where an element is narrower than a byte.

`hls/packed_token.h` says why, and is the same in C++.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.graph.itensor import DTYPE_BITS, ITensor
from compiler.targets.scalar_ops import C_TYPE

MAX_AP_BITS = 1024  # of an ap_uint, unless every source redefines AP_INT_MAX_W


def is_packed(itensor: ITensor) -> bool:
    """Whether the stream's tokens are packed bits."""
    return prod(itensor.element) > 1 and DTYPE_BITS[itensor.dtype] < 8


def token_type(itensor: ITensor) -> str:
    """C++ type of one token: the element itself, or the alias of several."""
    elements = prod(itensor.element)
    return C_TYPE[itensor.dtype] if elements == 1 else f"{itensor.dtype}x{elements}"


def token_alias(itensor: ITensor, port_bits: int) -> str | None:
    """Definition of the alias, if the token has several elements; a memory port has `port_bits`."""
    elements = prod(itensor.element)
    if elements == 1:
        return None
    if not is_packed(itensor):
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


def recorded_elements(raw: bytes, itensor: ITensor, port_bits: int) -> bytes:
    """Tokens as C simulation records them, as elements in their native types: packed bits become a byte an element."""
    if not is_packed(itensor):
        return raw
    word = _word_bits(itensor.width, port_bits)
    words = np.frombuffer(raw, np.uint8).reshape(-1, _stored_bytes(word))
    bits = np.unpackbits(words, axis=1, bitorder="little")[:, :word]
    return _elements(bits.reshape(-1, DTYPE_BITS[itensor.dtype])).tobytes()


def stored_tokens(elements: NDArray[Any], itensor: ITensor, port_bits: int) -> bytes:
    """The reverse: rows of elements, one a token, as tokens lie in memory."""
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
