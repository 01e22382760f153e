"""Greedy generation: a launch for each token of the prompt, the last of which makes the whole reply.

A launch is told a token and its position. It looks up the rows of both, reads keys and values of the positions before,
adds its own, and gives the token that follows; with that it goes on by itself, up to the position or the token that it
is to end with. So the host sends everything once, before the first launch, and reads the tokens behind the last. A
design of several kernels is launched for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerator import Accelerator, program
from .design import Design
from .network import Network
from .xrt import Device, Xrt

Array = NDArray[Any]
TOKEN, POSITION = "token", "position"  # what a launch is told; the result, too, is a token
CHOOSE = "choose"  # 0 where no token is wanted, of which a design may make less work
UNTIL, END = "until", "end"  # the last position of a launch, and the token that ends it before
HIDDEN = "hidden_out"
OnLaunch = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """One generated token, and the hidden state after the last layer that it was chosen from."""

    token: int
    hidden: Array


def ended(tokens: Sequence[int], end: int | None) -> int:
    """How many of the tokens there are where the first that is `end` is the last."""
    return next((number for number, token in enumerate(tokens, 1) if token == end), len(tokens))


def silent(_phase: str) -> None:
    """Progress that nobody watches."""


def generate(
    xrt: Xrt,
    device: Device,
    network: Network,
    design: Design,
    xclbin: Path,
    count: int,
    on_launch: OnLaunch = silent,
    end: int | None = None,
) -> Generator[Step]:
    """`count` tokens after the network's prompt, as they are chosen, by `design`, a workload of the phase `token` that
    is in `xclbin`; fewer where one of them is `end`. `on_launch` hears of each launch that starts.

    Raises ValueError where the design's context does not hold prompt and tokens but the last, RunError, and what the
    board raises.
    """
    accelerator = Accelerator(xrt, device, design, program(xrt, device, xclbin))
    accelerator.load({**network.tensors(), **_empty_caches(design)})
    results = {result.name: result for result in design.results}
    prompt = network.description.prompt
    position, first, behind, token = 0, len(prompt) - 1, len(prompt) + count - 1, prompt[0]
    while position < behind:
        on_launch("prompt" if position < len(prompt) else "reply")
        token = prompt[position] if position < len(prompt) else token
        until = position if position < first or UNTIL not in design.arguments else behind - 1
        told = {TOKEN: token, POSITION: position, CHOOSE: int(position >= first), UNTIL: until, END: end}
        known = {name: value for name, value in told.items() if name in design.arguments}
        accelerator.give({name: value for name, value in known.items() if value is not None})
        accelerator.start()
        if position >= first:
            rows = slice(position, until + 1)
            tokens, states = (accelerator.read(results[name])[rows] for name in (TOKEN, HIDDEN))
            for made, state in zip(tokens.reshape(-1), states, strict=True):
                token = int(made)
                yield Step(token, state.reshape(-1))
                if token == end:
                    return
        position = until + 1


def _empty_caches(design: Design) -> dict[str, Array]:
    """What launches add rows to, without any."""
    return {
        source: np.zeros(image.shape[image.stacked :], np.float32)
        for image in design.images.values()
        if image.role == "kept"
        for source in image.sources
    }
