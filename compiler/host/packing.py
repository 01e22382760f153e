"""Memory images: tensors in the order in which a port streams them, packed into words of a port's width a channel.

Word w holds the elements of its tokens from the least significant bit on; with p bits a port, bits p c .. p c + p - 1
of it are word w of channel c. `hls/stream_pack.h` is the same in C++.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# What one element is in memory of the host and of C simulation; i4 is sign-extended to a byte.
NATIVE = {
    "f32": np.dtype("<f4"),
    "i64": np.dtype("<i8"),
    "i32": np.dtype("<i4"),
    "i8": np.dtype("i1"),
    "i4": np.dtype("i1"),
    "i1": np.dtype("?"),
}
BITS = {"f32": 32, "i64": 64, "i32": 32, "i8": 8, "i4": 4, "i1": 1}
OLDER_PORT_BITS = 512  # in manifests that do not say it: all designs were for one board


@dataclass(frozen=True)
class Step:
    """One loop of a stream: `trip` times `step` elements along dimension `dim` of the tensor; None is a re-read."""

    trip: int
    step: int
    dim: int | None


@dataclass(frozen=True)
class Layout:
    """A tensor as a port moves it: tokens of shape `element`, in the order of `loops`, outermost first.

    `valid` is the tensor's shape where what moves is longer: zeros on the way in, dropped on the way out. `port_bits`:
    those of each channel's words; 0 where no memory holds them.
    """

    element: tuple[int, ...]
    dtype: str
    loops: tuple[Step, ...]
    channels: int = 1
    tokens_per_word: int = 1
    words_per_token: int = 1
    valid: tuple[int, ...] = ()
    port_bits: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in the whole stream, re-reads included."""
        return prod(loop.trip for loop in self.loops)

    @property
    def shape(self) -> tuple[int, ...]:
        """What moves, padding included."""
        trips = (prod(loop.trip for loop in self.loops if loop.dim == d) for d in range(len(self.element)))
        return tuple(extent * trip for extent, trip in zip(self.element, trips, strict=True))

    @property
    def true_shape(self) -> tuple[int, ...]:
        """The tensor's."""
        return self.valid or self.shape

    @property
    def words(self) -> int:
        """Words of each channel."""
        return -(-self.tokens // self.tokens_per_word) * self.words_per_token

    @property
    def channel_bytes(self) -> int:
        """Bytes of the memory image of each channel."""
        return self.words * self.port_bits // 8


def layout_from_json(data: Mapping[str, Any]) -> Layout:
    """A layout as `params/manifest.json` describes it."""
    loops = tuple(Step(*loop) for loop in data["loops"])
    packing = (data["channels"], data["tokens_per_word"], data["words_per_token"])
    valid, port_bits = tuple(data["shape"]), data.get("port_bits", OLDER_PORT_BITS)
    return Layout(tuple(data["element"]), data["dtype"], loops, *packing, valid=valid, port_bits=port_bits)


def pack(array: Array, layout: Layout) -> list[bytes]:
    """`array`, of the layout's true shape, as the memory image of each channel. O(elements), in numpy."""
    elements = prod(layout.element)
    slots, size = layout.channels * layout.port_bits // BITS[layout.dtype], layout.port_bits // 8
    tokens = tensor_to_tokens(_pad(array, layout.shape), layout)
    if layout.words_per_token > 1:
        words = _pad(tokens, (len(tokens), layout.words_per_token * slots)).reshape(layout.words, slots)
    else:
        full = _pad(tokens, (layout.words * layout.tokens_per_word, elements))
        words = _pad(full.reshape(layout.words, -1), (layout.words, slots))
    rows = _elements_to_bits(words, layout.dtype)
    return [np.ascontiguousarray(rows[:, c * size : (c + 1) * size]).tobytes() for c in range(layout.channels)]


def unpack(channels: Sequence[bytes | memoryview], layout: Layout) -> Array:
    """The tensor in the memory images of the channels: the reverse of `pack`."""
    elements = prod(layout.element)
    parts = [np.frombuffer(c, np.uint8).reshape(layout.words, -1) for c in channels]
    words = _bits_to_elements(np.ascontiguousarray(np.concatenate(parts, axis=1)), layout.dtype)
    if layout.words_per_token > 1:
        tokens = words.reshape(layout.tokens, -1)[:, :elements]
    else:
        tokens = words[:, : layout.tokens_per_word * elements].reshape(-1, elements)[: layout.tokens]
    return _true_tensor(tokens, layout)


@dataclass(frozen=True)
class Dealt:
    """Tokens that a port moves in `pieces`, of which each has as much of every one of `parts`: those of a token are
    runs of neighbours, one of each part in turn in each of its `blocks`.
    """

    parts: int
    blocks: int
    pieces: int

    def in_pieces(self, tokens: Array) -> Array:
        """Rows of elements as they are moved."""
        runs = tokens.reshape(len(tokens), self.blocks, self.parts, -1).swapaxes(1, 2)
        return runs.reshape(len(tokens), self.parts, self.pieces, -1).swapaxes(1, 2).reshape(tokens.shape)

    def whole(self, pieces: Array) -> Array:
        """The reverse."""
        runs = pieces.reshape(len(pieces), self.pieces, self.parts, -1).swapaxes(1, 2)
        return runs.reshape(len(pieces), self.parts, self.blocks, -1).swapaxes(1, 2).reshape(pieces.shape)


def join(
    tensors: Sequence[Array],
    layouts: Sequence[Layout],
    rounds: int,
    behind: int = 0,
    dealt: Dealt | None = None,
) -> Array:
    """Elements of tensors that lie in one image, [rounds, elements]: in each round as many tokens of one tensor as in
    any other, tensors one after the other, their tokens in pieces where they are `dealt`. The last `behind` tensors lie
    behind all rounds, each whole; then there is one row of all. They have the true shapes of `layouts`. O(elements), in
    numpy.
    """
    whole = [tensor_to_tokens(_pad(t, layout.shape), layout) for t, layout in zip(tensors, layouts, strict=True)]
    turns, first = whole if dealt is None else [dealt.in_pieces(tokens) for tokens in whole], len(whole) - behind
    rows = np.concatenate([tokens.reshape(rounds, -1) for tokens in turns[:first]], axis=1)
    return np.concatenate([part.reshape(-1) for part in (rows, *turns[first:])]) if behind else rows


def join_packed(tensors: Sequence[Array], layouts: Sequence[Layout], rounds: int = 1, behind: int = 0) -> Array:
    """Bytes of tensors that lie in one image as those of `join`, each packed by itself for one channel: as many words
    of one in each round as in any other. They have the true shapes of `layouts`.
    """
    images = [np.frombuffer(pack(t, layout)[0], np.int8) for t, layout in zip(tensors, layouts, strict=True)]
    first = len(images) - behind
    rows = np.concatenate([image.reshape(rounds, -1) for image in images[:first]], axis=1)
    return np.concatenate([rows.reshape(-1), *images[first:]])


def split_packed(joined: Array, layouts: Sequence[Layout], rounds: int = 1, behind: int = 0) -> list[Array]:
    """The tensors, in their true shapes: the reverse of `join_packed`."""
    sizes = [layout.channel_bytes for layout in layouts]
    first = len(sizes) - behind
    whole, *last = np.split(np.ascontiguousarray(joined).reshape(-1), np.cumsum(sizes)[first - 1 : -1])
    parts = np.split(whole.reshape(rounds, -1), np.cumsum(sizes[:first])[:-1] // rounds, axis=1)
    return [unpack([part.tobytes()], layout) for part, layout in zip([*parts, *last], layouts, strict=True)]


def split(
    joined: Array,
    layouts: Sequence[Layout],
    rounds: int,
    behind: int = 0,
    dealt: Dealt | None = None,
) -> list[Array]:
    """The tensors, in their true shapes: the reverse of `join`."""
    first, ends = len(layouts) - behind, np.cumsum([prod(layout.shape) for layout in layouts])
    whole, *last = np.split(joined.reshape(-1), ends[first - 1 : -1])
    parts = [*np.split(whole.reshape(rounds, -1), ends[: first - 1] // rounds, axis=1), *last]
    if dealt is not None:
        parts = [dealt.whole(p.reshape(layout.tokens, -1)) for p, layout in zip(parts, layouts, strict=True)]
    return [_true_tensor(np.ascontiguousarray(part), layout) for part, layout in zip(parts, layouts, strict=True)]


def _true_tensor(tokens: Array, layout: Layout) -> Array:
    return from_tokens(tokens, layout)[tuple(slice(extent) for extent in layout.true_shape)]


def tensor_to_tokens(array: Array, layout: Layout) -> Array:
    """`array` as one row of elements per token, re-reads included. O(elements streamed), in numpy."""
    shape, axes = _split_axes(layout)
    split = np.ascontiguousarray(array).reshape(shape).transpose(axes)
    once = sum(loop.dim is not None and loop.trip > 1 for loop in layout.loops)
    trips = [1 if loop.dim is None else loop.trip for loop in layout.loops]
    spread = split.reshape([*trips, *split.shape[once:]])
    whole = np.broadcast_to(spread, (*(loop.trip for loop in layout.loops), *layout.element))
    return whole.reshape(layout.tokens, prod(layout.element))


def from_tokens(tokens: Array, layout: Layout) -> Array:
    """The tensor of tokens that pass once each, in the order of `layout`."""
    shape, axes = _split_axes(layout)
    split = tokens.reshape([shape[a] for a in axes])
    return np.ascontiguousarray(split.transpose(np.argsort(axes))).reshape(layout.shape)


def _split_axes(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tensor's shape split into the loops that walk it, and the axes of that in the order loops, then element."""
    loops = [(k, loop) for k, loop in enumerate(layout.loops) if loop.dim is not None and loop.trip > 1]
    shape: list[int] = []
    axis_of: dict[int, int] = {}
    element_axes: list[int] = []
    for dim, extent in enumerate(layout.element):
        for k, loop in sorted((p for p in loops if p[1].dim == dim), key=lambda p: -p[1].step):
            axis_of[k] = len(shape)
            shape.append(loop.trip)
        element_axes.append(len(shape))
        shape.append(extent)
    return tuple(shape), (*(axis_of[k] for k, _ in loops), *element_axes)


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


def _pad(array: Array, shape: tuple[int, ...]) -> Array:
    """`array` with zeros behind each dimension, up to `shape`. Raises ValueError where it has another rank."""
    if array.size == prod(shape):
        return array
    if len(array.shape) != len(shape):
        raise ValueError(f"an array of shape {list(array.shape)} can not be padded to {list(shape)}")
    padded = np.zeros(shape, array.dtype)
    padded[tuple(slice(extent) for extent in array.shape)] = array
    return padded
