"""Memory images: tensors in the order in which their itensors stream them, packed into the words of HBM ports.

Word w holds the elements of its tokens from the least significant bit on; bits 512 c .. 512 c + 511 of it are word w of
channel c. `hls/stream_pack.h` is the same in C++.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import VerificationError
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.task_graph import Dma

Array = NDArray[Any]

# What one element is in memory of the host and of C simulation; i4 is sign-extended to a byte.
NATIVE = {
    "f32": np.dtype("<f4"),
    "i32": np.dtype("<i4"),
    "i8": np.dtype("i1"),
    "i4": np.dtype("i1"),
    "i1": np.dtype("?"),
}
PORT_BITS = 512


def _split_axes(itensor: ITensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tensor's shape split into the loops that walk it, and the axes of that in the order loops, then element."""
    loops = [(k, loop) for k, loop in enumerate(itensor.loops) if loop.dim is not None and loop.trip > 1]
    shape: list[int] = []
    axis_of: dict[int, int] = {}
    element_axes: list[int] = []
    for dim, extent in enumerate(itensor.element):
        for k, loop in sorted((p for p in loops if p[1].dim == dim), key=lambda p: -p[1].step):
            axis_of[k] = len(shape)
            shape.append(loop.trip)
        element_axes.append(len(shape))
        shape.append(extent)
    return tuple(shape), (*(axis_of[k] for k, _ in loops), *element_axes)


def tensor_to_tokens(array: Array, itensor: ITensor) -> Array:
    """`array` as one row of elements per token of `itensor`, re-reads included. O(elements streamed), in numpy."""
    shape, axes = _split_axes(itensor)
    split = np.ascontiguousarray(array).reshape(shape).transpose(axes)
    once = [loop.trip for loop in itensor.loops if loop.dim is not None and loop.trip > 1]
    spread = split.reshape(
        [*(1 if loop.dim is None else loop.trip for loop in itensor.loops), *split.shape[len(once) :]]
    )
    whole = np.broadcast_to(spread, (*(loop.trip for loop in itensor.loops), *itensor.element))
    return whole.reshape(itensor.tokens, prod(itensor.element))


def tokens_to_tensor(raw: bytes, itensor: ITensor) -> Array:
    """The tensor that passed a stream, from its tokens as C simulation records them (elements in their native types).

    Raises VerificationError where the record has another length, or where a re-read brought other data than the first.
    """
    elements = np.frombuffer(raw, NATIVE[itensor.dtype])
    if elements.size != itensor.tokens * prod(itensor.element):
        raise VerificationError(
            f"{elements.size} elements were recorded, {itensor} streams {itensor.tokens * prod(itensor.element)}"
        )
    bits = elements.view(f"u{elements.itemsize}").reshape([*(loop.trip for loop in itensor.loops), *itensor.element])
    first = bits[tuple(slice(0, 1) if loop.dim is None else slice(None) for loop in itensor.loops)]
    if (bits != first).any():
        raise VerificationError(f"a later pass over {itensor} brought other data than the first")
    return _from_tokens(first, itensor).view(elements.dtype)


def _from_tokens(tokens: Array, itensor: ITensor) -> Array:
    """The tensor of tokens that pass once each, in the order of `itensor`."""
    shape, axes = _split_axes(itensor)
    split = tokens.reshape([shape[a] for a in axes])
    return np.ascontiguousarray(split.transpose(np.argsort(axes))).reshape(itensor.shape)


def _elements_to_bits(words: Array, dtype: str) -> NDArray[np.uint8]:
    """Rows of elements as rows of bytes, first element in the least significant bits."""
    if dtype == "i4":
        nibbles = words.astype(np.uint8)
        return np.bitwise_or(nibbles[:, 0::2] & np.uint8(15), nibbles[:, 1::2] << np.uint8(4)).view(np.uint8)
    if dtype == "i1":
        return np.packbits(words.astype(bool), axis=1, bitorder="little")
    return np.ascontiguousarray(words.astype(NATIVE[dtype], copy=False)).view(np.uint8)


def _bits_to_elements(rows: NDArray[np.uint8], dtype: str) -> Array:
    if dtype == "i4":
        nibbles = np.stack([rows & 15, rows >> 4], axis=2).reshape(len(rows), -1).astype(np.int8)
        return (nibbles ^ 8) - 8
    if dtype == "i1":
        return np.unpackbits(rows, axis=1, bitorder="little").astype(bool)
    return rows.view(NATIVE[dtype])


def _pad(rows: Array, count: int, width: int) -> Array:
    """`rows` with zeros up to `count` rows of `width`."""
    if rows.shape == (count, width):
        return rows
    padded = np.zeros((count, width), rows.dtype)
    padded[: rows.shape[0], : rows.shape[1]] = rows
    return padded


def pack(array: Array, dma: Dma) -> list[bytes]:
    """`array`, of the layout's shape, as the memory image of each channel. O(elements), in numpy."""
    layout = dma.layout
    elements = prod(layout.element)
    slots = dma.channels * PORT_BITS // DTYPE_BITS[layout.dtype]
    tokens = tensor_to_tokens(array, layout)
    if dma.words_per_token > 1:
        words = _pad(tokens, len(tokens), dma.words_per_token * slots).reshape(dma.words, slots)
    else:
        full = _pad(tokens, dma.words * dma.tokens_per_word, elements)
        words = _pad(full.reshape(dma.words, -1), dma.words, slots)
    rows = _elements_to_bits(words, layout.dtype)
    width = PORT_BITS // 8
    return [np.ascontiguousarray(rows[:, c * width : (c + 1) * width]).tobytes() for c in range(dma.channels)]


def unpack(channels: list[bytes], dma: Dma) -> Array:
    """The tensor in the memory images of the channels: the reverse of `pack`."""
    layout = dma.layout
    elements = prod(layout.element)
    parts = [np.frombuffer(c, np.uint8).reshape(dma.words, PORT_BITS // 8) for c in channels]
    words = _bits_to_elements(np.ascontiguousarray(np.concatenate(parts, axis=1)), layout.dtype)
    if dma.words_per_token > 1:
        tokens = words.reshape(layout.tokens, -1)[:, :elements]
    else:
        tokens = words[:, : dma.tokens_per_word * elements].reshape(-1, elements)[: layout.tokens]
    return _from_tokens(tokens, layout)


def dma_to_json(dma: Dma) -> dict[str, Any]:
    """A transfer as the manifest describes it, enough to pack and unpack its image."""
    return {
        "value": dma.value,
        "layout": str(dma.layout),
        "element": list(dma.layout.element),
        "dtype": dma.layout.dtype,
        "loops": [[loop.trip, loop.step, loop.dim] for loop in dma.layout.loops],
        "channels": dma.channels,
        "tokens_per_word": dma.tokens_per_word,
        "words_per_token": dma.words_per_token,
    }


def dma_from_json(data: dict[str, Any]) -> Dma:
    """The reverse of `dma_to_json`."""
    layout = ITensor(tuple(data["element"]), data["dtype"], tuple(Loop(*loop) for loop in data["loops"]))
    return Dma(data["value"], layout, data["channels"], data["tokens_per_word"], data["words_per_token"])
