"""Greedy generation: a launch for each reply, its prompt included.

A launch is told a token and its position. It looks up the rows of both, reads keys and values of the positions before,
adds its own, and gives the token that follows, which is the prompt's where that has one; with that it goes on by
itself, up to the position or the token that it is to end with. So the host sends all but the prompt once, before the
first launch, and reads the tokens behind it. The next turn of a conversation goes on behind it. A design of several
kernels is launched for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerator import Accelerator, program
from .design import Design
from .network import PROMPT, Network, prompt_rows
from .packing import NATIVE
from .xrt import Device, Xrt

Array = NDArray[Any]
TOKEN, POSITION = "token", "position"  # what a launch is told; the result, too, is a token
CHOOSE = "choose"  # 0 where no token is wanted, of which a design may make less work
UNTIL, END = "until", "end"  # the last position of a launch, and the token that ends it before
FIRST = "first"  # the position from which on tokens are wanted, and the ending one ends
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


class Session:
    """A conversation with `design`, a workload of the phase `token` that is in `xclbin`, on a board that has been sent
    everything. `held`: how many positions have keys and values there. Raises what the board raises.
    """

    def __init__(self, xrt: Xrt, device: Device, network: Network, design: Design, xclbin: Path) -> None:
        self.design, self.held = design, 0
        self._length, self._positions = network.description.length, network.description.positions
        self._waiting: list[int] = []  # the token that was made last: no position holds it yet
        self._results = {result.name: result for result in design.results}
        self._accelerator = Accelerator(xrt, device, design, program(xrt, device, xclbin))
        prompt = {PROMPT: prompt_rows(self._length)}
        self._accelerator.load({**network.tensors(), **prompt, **_empty_caches(design)})

    def reply(
        self, prompt: Sequence[int], count: int, on_launch: OnLaunch = silent, end: int | None = None
    ) -> Generator[Step]:
        """`count` tokens after `prompt`, which stands behind all that was said before, as they are chosen; fewer where
        one of them is `end`. `on_launch` hears of each launch that starts. What is not taken of it has not been said.

        Raises ValueError where the design's context does not hold prompt and tokens but the last, RunError, and what
        the board raises.
        """
        given, start = [*self._waiting, *prompt], self.held
        first = start + len(given) - 1
        behind = first + count
        if not given or behind > self._positions:
            raise ValueError(f"{len(given)} tokens and {count} new ones do not fit the {self._positions} positions")
        self._accelerator.write({PROMPT: prompt_rows(self._length, given, start)})
        while self.held < behind:
            position = self.held
            token = given[position - start] if position <= first else self._waiting[0]
            until = behind - 1 if FIRST in self.design.arguments else position
            on_launch("reply" if until >= first else "prompt")
            told = {TOKEN: token, POSITION: position, CHOOSE: int(position >= first), UNTIL: until, FIRST: first}
            told |= {} if end is None else {END: end}
            self._accelerator.give({name: told[name] for name in told if name in self.design.arguments})
            self._accelerator.start()
            self.held = min(until + 1, max(position, first))
            for step in self._made(range(self.held, until + 1)):
                self.held, self._waiting = self.held + 1, [step.token]
                yield step
                if step.token == end:
                    return

    def _made(self, rows: range) -> Iterator[Step]:
        """What was made at these positions."""
        if not rows:
            return
        read = (self._accelerator.read(self._results[name])[rows.start : rows.stop] for name in (TOKEN, HIDDEN))
        for token, state in zip(*read, strict=True):
            yield Step(int(token.item()), state.reshape(-1))


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
    """Replies to all prompts of the network's description, one turn after the other, as `Session.reply`."""
    session = Session(xrt, device, network, design, xclbin)
    for prompt in network.description.turns:
        yield from session.reply(prompt, count, on_launch, end)


def _empty_caches(design: Design) -> dict[str, Array]:
    """What launches add rows to, without any."""
    return {
        source: np.zeros(image.shape[image.stacked :], NATIVE[image.layout.dtype])
        for image in design.images.values()
        if image.role == "kept"
        for source in image.sources
    }
