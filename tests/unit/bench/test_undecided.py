"""PyTorch is asked again with other last bits, and is as it was afterwards."""

from pathlib import Path

import torch

from bench.small_models import small_model
from bench.undecided import CHANGE, WAYS, in_other_ways
from compiler.frontend.models.config import resolve_model
from compiler.frontend.network_export import build_model, greedy
from compiler.frontend.network_request import NetworkRequest

REQUEST = NetworkRequest("w8a8", 1, (1, 2, 3), 4, 15)


def test_floats_change_a_little_and_are_themselves_in_the_end(tmp_path: Path) -> None:
    network = build_model(resolve_model(small_model("gpt2", tmp_path)), REQUEST)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    seen = list[torch.Tensor]()
    for _ in in_other_ways(network):
        now = network.state_dict()
        for name, whole in before.items():
            most = 2 * CHANGE * whole.abs() if whole.is_floating_point() else 0
            assert bool(((now[name] - whole).abs() <= most).all()), name
        scales = next(name for name in before if name.endswith("weight_scale"))
        assert not torch.equal(now[scales], before[scales])
        seen.append(now["embedding"].clone())
    assert len(seen) == WAYS
    assert not torch.equal(seen[0], seen[1])
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


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
