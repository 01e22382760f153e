"""Memory images of a design's transfers. How they are packed is in `compiler.host.packing`, which the board runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import Dma, Joint
from compiler.host import packing
from compiler.host.packing import NATIVE, Layout, Step

__all__ = [
    "NATIVE",
    "dma_from_json",
    "dma_to_json",
    "join",
    "layout_to_json",
    "pack",
    "split",
    "tensor_to_tokens",
    "tokens_to_tensor",
    "unpack",
]

Array = NDArray[Any]


def pack(array: Array, dma: Dma) -> list[bytes]:
    """`array`, of the layout's shape or shorter, as the memory image of each channel; zeros fill what it lacks.
    O(elements), in numpy.
    """
    return packing.pack(array, _layout(dma.layout, dma))


def unpack(channels: list[bytes], dma: Dma, true_shape: tuple[int, ...] = ()) -> Array:
    """The tensor in the memory images of the channels: the reverse of `pack`. `true_shape` drops padding."""
    return packing.unpack(channels, replace(_layout(dma.layout, dma), valid=true_shape))


def join(tensors: Sequence[Array], joint: Joint | None) -> Array:
    """What an image holds: the tensor of its one value, or those of several, [rounds, elements], or in one row; zeros
    fill what one of these lacks of its layout's shape.
    """
    if joint is None:
        (tensor,) = tensors
        return tensor
    if joint.packed:
        layouts = [_layout(dma.layout, dma) for dma in joint.packed]
        return packing.join_packed(tensors, layouts, joint.rounds, len(joint.behind))
    return packing.join(tensors, _layouts(joint), joint.rounds, len(joint.behind), _dealt(joint))


def split(joined: Array, joint: Joint | None) -> list[Array]:
    """The tensors, padding included: the reverse of `join`."""
    if joint is None:
        return [joined]
    if joint.packed:
        layouts = [_layout(dma.layout, dma) for dma in joint.packed]
        return packing.split_packed(joined, layouts, joint.rounds, len(joint.behind))
    return packing.split(joined, _layouts(joint), joint.rounds, len(joint.behind), _dealt(joint))


def _layouts(joint: Joint) -> list[Layout]:
    return [_layout(part.layout) for part in (*joint.parts, *joint.behind)]


def _dealt(joint: Joint) -> packing.Dealt | None:
    return None if joint.dealt is None else packing.Dealt(*joint.dealt)


def tensor_to_tokens(array: Array, itensor: ITensor) -> Array:
    """`array` as one row of elements per token of `itensor`, re-reads included. O(elements streamed), in numpy."""
    return packing.tensor_to_tokens(array, _layout(itensor))


def tokens_to_tensor(raw: bytes, itensor: ITensor) -> Array:
    """The tensor that passed a stream, from the tokens of its first pass (elements in their native types).

    Raises VerificationError where there are more or fewer of them.
    """
    layout = _layout(itensor.without_rereads())
    elements = np.frombuffer(raw, NATIVE[itensor.dtype])
    expected = layout.tokens * int(np.prod(itensor.element, dtype=int))
    if elements.size != expected:
        raise VerificationError(f"{elements.size} elements were recorded, {itensor} streams {expected}")
    return packing.from_tokens(elements, layout)


def dma_to_json(dma: Dma) -> dict[str, Any]:
    """A transfer as the manifest describes it, enough to pack and unpack its image."""
    return {
        "value": dma.value,
        **layout_to_json(dma.layout),
        "channels": dma.channels,
        "tokens_per_word": dma.tokens_per_word,
        "words_per_token": dma.words_per_token,
        "port_bits": dma.port_bits,
    }


def layout_to_json(layout: ITensor) -> dict[str, Any]:
    """The order of tokens in memory."""
    return {
        "layout": str(layout),
        "element": list(layout.element),
        "dtype": layout.dtype,
        "loops": [[loop.trip, loop.step, loop.dim] for loop in layout.loops],
    }


def dma_from_json(data: dict[str, Any]) -> Dma:
    """The reverse of `dma_to_json`."""
    layout = ITensor(tuple(data["element"]), data["dtype"], tuple(Loop(*loop) for loop in data["loops"]))
    words = data["channels"], data["tokens_per_word"], data["words_per_token"]
    return Dma(data["value"], layout, *words, data["port_bits"])


def _layout(itensor: ITensor, dma: Dma | None = None) -> Layout:
    loops = tuple(Step(loop.trip, loop.step, loop.dim) for loop in itensor.loops)
    if dma is None:
        return Layout(itensor.element, itensor.dtype, loops)
    words = dma.channels, dma.tokens_per_word, dma.words_per_token
    return Layout(itensor.element, itensor.dtype, loops, *words, port_bits=dma.port_bits)
