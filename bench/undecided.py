"""Where PyTorch itself is undecided about the next token: it says another one when the last bits of its embeddings
change.

A quantised network is chaotic: a float on the border between two integers goes to the other one by its last bit, and
what follows moves by as much as quantisation itself. A design that sums in another order is one more such change, so it
can be held to PyTorch's tokens where no change of a last bit makes PyTorch say others.
"""

from collections.abc import Iterator

import numpy as np
import torch

from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.language_model import LanguageModel
from compiler.frontend.network_export import build_model, greedy
from compiler.frontend.network_request import NetworkRequest
from compiler.generation import Generation, Prepared

WAYS = 8


def in_other_ways(network: LanguageModel) -> Iterator[None]:
    """The network with embeddings of which each number is the next one above or below, drawn in `WAYS`; then as before.
    A table that also makes the choice (a tied head) changes as a whole.
    """
    table, rng = network.embedding.data, torch.Generator().manual_seed(0)
    whole = table.clone()
    for _ in range(WAYS):
        above = torch.rand(whole.shape, generator=rng) < 0.5
        table.copy_(torch.nextafter(whole, torch.where(above, torch.inf, -torch.inf)))
        yield
    table.copy_(whole)


def is_decided(source: ModelSource, request: NetworkRequest) -> bool:
    """Whether PyTorch says the same tokens in all of these ways."""
    network = build_model(source, request)
    tokens = greedy(network, request).tokens.tolist()
    return all(greedy(network, request).tokens.tolist() == tokens for _ in in_other_ways(network))


def in_its_text(prepared: Prepared, made: Generation) -> str:
    """How many of the design's tokens PyTorch says behind those before them, and how many others in one of these ways
    only.
    """
    if made.equal:
        return "all"
    network, told = build_model(prepared.source, prepared.request), np.array(made.tokens)
    at_once, at_all = (np.zeros(told.shape, np.bool_) for _ in range(2))
    at_once |= greedy(network, prepared.request, made.tokens).tokens == told
    for _ in in_other_ways(network):
        at_all |= greedy(network, prepared.request, made.tokens).tokens == told
    return f"{at_once.sum()}, {(at_all & ~at_once).sum()} undecided"
