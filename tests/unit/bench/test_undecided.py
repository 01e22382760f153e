"""PyTorch is asked again with other last bits, and is as it was afterwards."""

from pathlib import Path

import torch

from bench.small_models import small_model
from bench.undecided import WAYS, in_other_ways
from compiler.frontend.models.config import resolve_model
from compiler.frontend.network_export import build_model, greedy
from compiler.frontend.network_request import NetworkRequest

REQUEST = NetworkRequest("w8a8", 1, (1, 2, 3), 4, 15)


def test_each_number_of_the_embeddings_is_the_next_one_and_in_the_end_itself(tmp_path: Path) -> None:
    network = build_model(resolve_model(small_model("gpt2", tmp_path)), REQUEST)
    whole = network.embedding.detach().clone()
    neighbours = [torch.nextafter(whole, torch.tensor(end)) for end in (torch.inf, -torch.inf)]
    seen = list[torch.Tensor]()
    for _ in in_other_ways(network):
        now = network.embedding.detach()
        assert bool(((now == neighbours[0]) | (now == neighbours[1])).all())
        assert not bool((now == whole).any())
        seen.append(now.clone())
    assert len(seen) == WAYS
    assert not torch.equal(seen[0], seen[1])
    assert torch.equal(network.embedding, whole)


def test_what_it_would_say_in_a_text_is_of_that_text(tmp_path: Path) -> None:
    network = build_model(resolve_model(small_model("gpt2", tmp_path)), REQUEST)
    own = greedy(network, REQUEST).tokens.tolist()
    assert greedy(network, REQUEST, own).tokens.tolist() == own
    other = [(own[0] + 1) % 7, *own[1:]]
    told = greedy(network, REQUEST, other).tokens.tolist()
    assert told[0] == own[0]  # it depends on the prompt alone
    prompt = NetworkRequest("w8a8", 1, (*REQUEST.prompt, other[0]), 1, 15)
    network = build_model(resolve_model(small_model("gpt2", tmp_path)), REQUEST)
    assert told[1] == greedy(network, prompt).tokens.tolist()[0]
