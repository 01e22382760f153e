"""Greedy generation: all layers of a network in one launch, prefill first, then token by token.

A board holds one xclbin at a time: the prefill design runs once, then the xclbin with the decode design and the head is
loaded and keeps every layer's weights and KV cache in device memory. A launch of the decode design is told its
position: it picks mask and rotary matrices of that, reads the cache before it, and adds its own rows. So a token moves
its hidden state, and no more; the head takes the last layer's and gives the token. The host looks up the embedding's
row.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerator import Accelerator, Layer, program
from .design import Design
from .network import Network
from .xrt import Device, Xrt

Array = NDArray[Any]
POSITION = "position"  # what a launch of the decode design is told
OnLaunch = Callable[[str], None]


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


def silent(_phase: str) -> None:
    """Progress that nobody watches."""


def caches(layers: int) -> Iterator[tuple[str, str]]:
    """Inputs that hold the cache of each layer, and the results that join them."""
    for layer in range(layers):
        for kind in ("k", "v"):
            yield f"h{layer}.{kind}_past", f"h{layer}.{kind}"


def generate(
    xrt: Xrt,
    device: Device,
    network: Network,
    prefill: Placed,
    decode: Placed,
    head: Placed,
    count: int,
    on_launch: OnLaunch = silent,
) -> Generator[Step]:
    """`count` tokens after the network's prompt, as they are chosen. `on_launch` hears of each launch that starts.

    The decode design's context must hold prompt and tokens but the last, and its xclbin the head too, or ValueError is
    raised: no token may wait for the board to be programmed. Raises RunError, and what the board raises.
    """
    filled = len(network.description.prompt)
    if decode.xclbin != head.xclbin:
        raise ValueError(f"decode design and head must be in one xclbin, not in {decode.xclbin} and {head.xclbin}")
    loaded = program(xrt, device, prefill.xclbin)
    hidden, held = _prefill(Accelerator(xrt, device, prefill.design, loaded), network, on_launch)
    loaded = program(xrt, device, decode.xclbin)
    chooser = Chooser(Accelerator(xrt, device, head.design, loaded), network)
    step = chooser.choose(hidden)
    yield step
    if count == 1:
        return
    accelerator = Accelerator(xrt, device, decode.design, loaded)
    layers = accelerator.add_layer()
    accelerator.load(layers, {**network.parameters(), **network.step_tables(), **held})
    for position in range(filled, filled + count - 1):
        on_launch("decode")
        step = chooser.choose(_decode(accelerator, layers, network, step.token, position))
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


def _prefill(accelerator: Accelerator, network: Network, on_launch: OnLaunch) -> tuple[Array, dict[str, Array]]:
    """The last row's hidden state after all layers, and their caches, empty slots zero.

    Rows behind the prompt are computed too; the causal mask keeps them from changing the prompt's.
    """
    about = network.description
    count = len(about.prompt)
    padded = [*about.prompt, *([about.prompt[-1]] * (about.rows - count))]
    layers = accelerator.add_layer()
    accelerator.load(layers, network.parameters())
    on_launch("prefill")
    results = accelerator.run(layers, {"hidden": network.embed(padded, 0), **network.prefill_inputs()})
    held = {p: filled_cache(results[new][:, :, :count], about.length) for p, new in caches(about.layers)}
    return results["hidden_out"][0, count - 1], held


def _decode(accelerator: Accelerator, layers: Layer, network: Network, token: int, position: int) -> Array:
    """The hidden state [hidden] of one more token; its keys and values stay in the caches."""
    accelerator.give(layers, {POSITION: position})
    return accelerator.run(layers, {"hidden": network.embed([token], position)})["hidden_out"][0, 0]


def filled_cache(rows: Array, slots: int) -> Array:
    """`rows` [1, heads, rows, features] at the front of `slots` rows."""
    cache = np.zeros((*rows.shape[:2], slots, rows.shape[3]), np.float32)
    cache[:, :, : rows.shape[2]] = rows
    return cache
