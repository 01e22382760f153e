"""Where PyTorch itself is undecided about the next token: it says another one when its parameters change by a
millionth.

A quantised network is chaotic: a float on the border between two integers goes to the other one by its last bits, and
what follows moves by as much as quantisation itself. A design that sums in another order is one more such change (of
f32 networks it moves the hidden states by a millionth), so it can be held to PyTorch's tokens where no such change
makes PyTorch say others. A few changes prove little where two tokens are close, so each token is to be well ahead of
the second, too: as hidden states differ so do the logits, each by as much of their spread.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from compiler.frontend.models.language_model import LanguageModel
from compiler.frontend.models.parts import Linear
from compiler.frontend.network_export import Prefill, build_model, greedy, quantised_for, run_layers, says
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.quantise import QuantisedWeight, linear_weight
from compiler.generation import Generation, Prepared, tolerance_of

WAYS = 8
CHANGE = 1e-6
MARGIN = 0.5
"""The least one, of what a design's hidden states may differ by."""


def for_each(network: Prefill) -> Callable[[NetworkRequest], Prefill]:
    """The network as it is for a request, whose prompt decides the scales of its activations alone: the float network
    shares its memory with each, and weights are rounded once.
    """
    tensors = {id(tensor): tensor for tensor in network.state_dict(keep_vars=True).values()}
    rounded: dict[int, QuantisedWeight] = {}

    def weight_of(linear: Linear, bits: int) -> QuantisedWeight:
        key = id(linear.weight)
        if key not in rounded:
            rounded[key] = linear_weight(linear, bits)
        return rounded[key]

    return lambda request: quantised_for(deepcopy(network, dict(tensors)), request, weight_of)


def in_other_ways(network: LanguageModel) -> Iterator[None]:
    """The network with floats, in tables, norms, biases and scales, that are up to `CHANGE` larger or smaller, drawn in
    `WAYS`; then, or where no more are asked for, as before. So something changes at every stage, as it does where sums
    are in another order.
    """
    floats = [t.data for t in network.state_dict(keep_vars=True).values() if t.is_floating_point() and t.ndim]
    kept, rng = [tensor.clone() for tensor in floats], torch.Generator().manual_seed(0)
    try:
        for _ in range(WAYS):
            for tensor, whole in zip(floats, kept, strict=True):
                tensor.uniform_(1 - CHANGE, 1 + CHANGE, generator=rng).mul_(whole)
            yield
    finally:
        for tensor, whole in zip(floats, kept, strict=True):
            tensor.copy_(whole)


def doubt(network: LanguageModel, request: NetworkRequest) -> str | None:
    """The first token that is not `MARGIN` ahead of the second, or is another one in one of these ways; None where all
    are decided. They are not of most prompts, and the first tokens are mostly enough to see that.
    """
    least, tokens = MARGIN * tolerance_of(request), list[int]()
    for said in says(network, request):
        if said.margin < least:
            return f"token {len(tokens) + 1} is {said.margin:.1g} ahead, {least:.2g} asked for"
        tokens.append(said.token)
    told = np.array(tokens)
    for way, _ in enumerate(in_other_ways(network), 1):
        if len(other := np.flatnonzero(at_once(network, request, told) != told)):
            return f"token {other[0] + 1} is another one in way {way} of {WAYS}"
    return None


def at_once(network: LanguageModel, request: NetworkRequest, said: NDArray[np.int64]) -> NDArray[np.int64]:
    """What it says behind the text before each of the tokens `said`, which it reads in one go: several times as fast as
    token by token, and the same where it says the same.
    """
    text, asked = list[int](), list[int]()
    for turn, prompt in enumerate(request.turns):
        answer = said[turn * request.tokens :][: request.tokens].tolist()
        text += prompt
        asked += range(len(text) - 1, len(text) - 1 + len(answer))
        text += answer
    with torch.no_grad():
        hidden, _ = run_layers(network, torch.tensor(text), None)
        return network.logits(hidden[:, asked])[0].argmax(-1).numpy()


def in_its_text(prepared: Prepared, made: Generation) -> str:
    """How many of the design's tokens PyTorch says behind those before them, and how many others in one of these ways
    only.
    """
    if made.equal:
        return "all"
    request = replace(prepared.request, tokens=len(made.tokens) // len(prepared.request.turns))  # it may end before
    network, told = build_model(prepared.source, request), np.array(made.tokens)

    def says() -> NDArray[np.bool_]:
        return greedy(network, request, made.tokens).tokens == told

    at_once = says()
    at_all = np.any([says() for _ in in_other_ways(network)], axis=0)
    return f"{at_once.sum()}, {(at_all & ~at_once).sum()} undecided"
