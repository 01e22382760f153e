"""Greedy generation: every layer of a network through one block design, prefill first, then token by token.

A board holds one xclbin at a time, so the prefill design runs all layers, then the xclbin with the decode design and
the head is loaded and keeps every layer's weights and KV cache in device memory. A decode step moves the hidden state,
the layer's inputs and the cache's new row only; the head takes the last layer's hidden state and gives the token. The
host looks up the embedding's row, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerator import Accelerator, Layer, Tensors, program
from .design import Design
from .network import Network
from .xrt import Device, Xrt

Array = NDArray[Any]
OnLayer = Callable[[str, int], None]
CACHES = {"h0.k_past": "h0.k", "h0.v_past": "h0.v"}
_SLIDING = "_sliding"


@dataclass(frozen=True)
class Placed:
    """A design and what programs a board with it, alone or beside another."""

    design: Design
    xclbin: Path


@dataclass(frozen=True)
class Step:
    """One generated token, and the hidden state after the last layer that it was chosen from."""

    token: int
    hidden: Array


def silent(_phase: str, _layer: int) -> None:
    """Progress that nobody watches."""


def generate(
    xrt: Xrt,
    device: Device,
    network: Network,
    prefill: Placed,
    decode: Placed,
    head: Placed,
    count: int,
    on_layer: OnLayer = silent,
) -> Generator[Step]:
    """`count` tokens after the network's prompt, as they are chosen. `on_layer` hears of each layer that starts.

    The decode design's context must hold prompt and tokens but the last, and its xclbin the head too, or ValueError is
    raised: no token may wait for the board to be programmed. Raises RunError, and what the board raises.
    """
    prompt = list(network.description.prompt)
    filled = len(prompt)
    if decode.xclbin != head.xclbin:
        raise ValueError(f"decode design and head must be in one xclbin, not in {decode.xclbin} and {head.xclbin}")
    loaded = program(xrt, device, prefill.xclbin)
    hidden, caches = _prefill(Accelerator(xrt, device, prefill.design, loaded), network, on_layer)
    loaded = program(xrt, device, decode.xclbin)
    chooser = Chooser(Accelerator(xrt, device, head.design, loaded), network)
    step = chooser.choose(hidden)
    yield step
    if count == 1:
        return
    accelerator = Accelerator(xrt, device, decode.design, loaded)
    layers = [_loaded(accelerator, network, number, cache) for number, cache in enumerate(caches)]
    for position in range(filled, filled + count - 1):
        hidden = _decode(accelerator, layers, network, step.token, position, on_layer)
        step = chooser.choose(hidden)
        yield step


class Chooser:
    """The head on its accelerator, with its weights."""

    def __init__(self, accelerator: Accelerator, network: Network) -> None:
        self._accelerator = accelerator
        self._layer = accelerator.add_layer()
        accelerator.load(self._layer, network.head())

    def choose(self, hidden: Array) -> Step:
        """The token that follows the hidden state [hidden] after the last layer."""
        results = self._accelerator.run(self._layer, {"hidden": hidden[np.newaxis, np.newaxis]})
        return Step(int(results["token"].reshape(())), hidden)


def _prefill(accelerator: Accelerator, network: Network, on_layer: OnLayer) -> tuple[Array, list[dict[str, Array]]]:
    """The last row's hidden state after all layers, and the caches of each, empty slots zero.

    Rows behind the prompt are computed too; the causal mask keeps them from changing the prompt's.
    """
    about = network.description
    count = len(about.prompt)
    padded = [*about.prompt, *([about.prompt[-1]] * (about.rows - count))]
    hidden = network.embed(padded, 0)
    layer = accelerator.add_layer()  # each layer runs once: one set of buffers serves them all
    caches: list[dict[str, Array]] = []
    for number in range(about.layers):
        on_layer("prefill", number)
        accelerator.load(layer, network.layer(number))
        results = accelerator.run(layer, _inputs(accelerator, hidden, network.prefill_inputs(number)))
        hidden = results["hidden_out"]
        caches.append(
            {past: filled_cache(results[new][:, :, :count], about.length - 1) for past, new in CACHES.items()}
        )
    return hidden[0, count - 1], caches


def _decode(
    accelerator: Accelerator, layers: list[Layer], network: Network, token: int, position: int, on_layer: OnLayer
) -> Array:
    """The hidden state [hidden] of one more token; its keys and values go into the caches."""
    hidden = network.embed([token], position)
    for number, layer in enumerate(layers):
        on_layer("decode", number)
        inputs = _inputs(accelerator, hidden, network.decode_inputs(number, position))
        results = accelerator.run(layer, inputs)
        hidden = results["hidden_out"]
        for past, new in CACHES.items():  # the last position has no slot: nothing is written
            accelerator.write_rows(layer, past, position, results[new])
    return hidden[0, 0]


def _loaded(accelerator: Accelerator, network: Network, number: int, caches: Tensors) -> Layer:
    layer = accelerator.add_layer()
    accelerator.load(layer, {**network.layer(number), **caches})
    return layer


def _inputs(accelerator: Accelerator, hidden: Array, own: Tensors) -> dict[str, Array]:
    """A layer's inputs by the names of the design, which are those of the kind of layer that it was made from."""
    sources = {i.source for i in accelerator.design.images.values() if i.role == "input" and i.source is not None}
    named = {source: source.removesuffix(_SLIDING) for source in sources}
    return {"hidden": hidden, **{source: own[name] for source, name in named.items() if name in own}}


def filled_cache(rows: Array, slots: int) -> Array:
    """`rows` [1, heads, rows, features] at the front of `slots` rows; a row too many, which no step will read, is left
    out: a prompt may fill the context where one token is wanted.
    """
    cache = np.zeros((*rows.shape[:2], slots, rows.shape[3]), np.float32)
    kept = min(rows.shape[2], slots)
    cache[:, :, :kept] = rows[:, :, :kept]
    return cache
