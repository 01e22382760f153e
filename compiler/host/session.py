"""Greedy generation: a launch a token, with the whole network in the launch.

A launch is told a token and its position. It looks up the rows of both, reads keys and values of the positions before,
adds its own, and gives the token that follows. So the host sends everything once, before the first launch, and then
moves two numbers there and one back. Tokens of the prompt are told one after the other; what follows them is known.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
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
HIDDEN = "hidden_out"
OnLaunch = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """One generated token, and the hidden state after the last layer that it was chosen from."""

    token: int
    hidden: Array


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
) -> Generator[Step]:
    """`count` tokens after the network's prompt, as they are chosen, by `design`, a workload of the phase `token` that
    is in `xclbin`. `on_launch` hears of each launch that starts.

    Raises ValueError where the design's context does not hold prompt and tokens but the last, RunError, and what the
    board raises.
    """
    accelerator = Accelerator(xrt, device, design, program(xrt, device, xclbin))
    accelerator.load({**network.tensors(), **_empty_caches(design)})
    results = {result.name: result for result in design.results}
    prompt = network.description.prompt
    token = prompt[0]
    for position in range(len(prompt) + count - 1):
        in_prompt = position < len(prompt)
        on_launch("prompt" if in_prompt else "reply")
        wanted = position >= len(prompt) - 1
        told = {TOKEN: prompt[position] if in_prompt else token, POSITION: position, CHOOSE: int(wanted)}
        accelerator.give({name: value for name, value in told.items() if name != CHOOSE or name in design.arguments})
        accelerator.start()
        if wanted:
            token = int(accelerator.read(results[TOKEN]).reshape(()))
            yield Step(token, accelerator.read(results[HIDDEN]).reshape(-1))


def _empty_caches(design: Design) -> dict[str, Array]:
    """What launches add rows to, without any."""
    return {
        source: np.zeros(image.shape[image.stacked :], np.float32)
        for image in design.images.values()
        if image.role == "kept"
        for source in image.sources
    }
