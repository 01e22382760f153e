"""PyTorch is asked again with other last bits, and is as it was afterwards."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.small_models import small_model
from compiler.frontend.models.config import resolve_model
from compiler.frontend.network_request import NetworkRequest
from compiler.generation import tolerance_of

if TYPE_CHECKING:
    from compiler.frontend.models.language_model import LanguageModel
    from compiler.frontend.models.parts import Linear
    from compiler.options import Precision

REQUEST = NetworkRequest("w8a8", 1, (3, 2, 1), 4, 15)


def built(folder: Path, request: NetworkRequest) -> "LanguageModel":
    from compiler.frontend.network_export import build_model  # torch, which collection does without

    return build_model(resolve_model(small_model("gpt2", folder)), request)


def test_floats_change_a_little_and_are_themselves_in_the_end(tmp_path: Path) -> None:
    import torch

    from bench.undecided import CHANGE, WAYS, in_other_ways

    network = built(tmp_path, REQUEST)
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
    from compiler.frontend.network_export import greedy

    network = built(tmp_path, REQUEST)
    own = greedy(network, REQUEST).tokens.tolist()
    assert greedy(network, REQUEST, own).tokens.tolist() == own
    other = [(own[0] + 1) % 7, *own[1:]]
    told = greedy(network, REQUEST, other).tokens.tolist()
    assert told[0] == own[0]  # it depends on the prompt alone
    prompt = NetworkRequest("w8a8", 1, (*REQUEST.prompt, other[0]), 1, 15)
    network = built(tmp_path, REQUEST)
    assert told[1] == greedy(network, prompt).tokens.tolist()[0]


def test_what_it_says_in_one_go_is_what_it_says_token_by_token(tmp_path: Path) -> None:
    from bench.undecided import at_once
    from compiler.frontend.network_export import greedy

    request = NetworkRequest("w8a8", 1, (1, 2, 3), 4, 15, then=((5, 6),))
    network = built(tmp_path, request)
    said = greedy(network, request).tokens
    assert len(said) == 8
    assert at_once(network, request, said).tolist() == said.tolist()
    said[2] += 1 if said[2] < 5 else -1  # which is not what follows, and another text from there on
    assert at_once(network, request, said).tolist() == greedy(network, request, said.tolist()).tokens.tolist()


@pytest.mark.parametrize("number", [0, 3])
def test_one_token_that_would_be_another_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    from bench import undecided
    from bench.undecided import at_once, doubt

    assert doubt(built(tmp_path, REQUEST), REQUEST) is None

    def other(*asked: Any) -> Any:
        tokens = at_once(*asked)
        tokens[number] += 1
        return tokens

    monkeypatch.setattr(undecided, "at_once", other)
    assert doubt(built(tmp_path, REQUEST), REQUEST) == f"token {number + 1} is another one in way 1 of 8"


@pytest.mark.parametrize("number", [0, 3])
def test_a_token_that_is_hardly_ahead_is_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """What follows it is not asked for."""
    from bench import undecided
    from compiler.frontend.network_export import says

    network, least = built(tmp_path, REQUEST), undecided.MARGIN * tolerance_of(REQUEST)
    assert min(said.margin for said in says(network, REQUEST)) >= least
    asked = list[int]()

    def close(*of: Any) -> Any:
        for said in says(*of):
            asked.append(said.token)
            yield said._replace(margin=least * 0.9) if len(asked) == number + 1 else said

    monkeypatch.setattr(undecided, "says", close)
    said = f"token {number + 1} is {least * 0.9:.1g} ahead, {least:.2g} asked for"
    assert undecided.doubt(network, REQUEST) == said
    assert len(asked) == number + 1


@pytest.mark.parametrize("precision", ["f32", "w8a8", "w4a8kv8"])
def test_a_network_for_each_prompt_is_the_one_that_is_built_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: "Precision"
) -> None:
    """Its weights are rounded for the first alone, and what changes to ask it in other ways is of no other."""
    import torch

    from bench import undecided
    from compiler.frontend.network_export import float_model

    count = list[tuple["Linear", int]]()

    def counted(linear: "Linear", bits: int) -> Any:
        count.append((linear, bits))
        return linear_weight(linear, bits)

    linear_weight = undecided.linear_weight
    monkeypatch.setattr(undecided, "linear_weight", counted)
    asked_about = undecided.for_each(float_model(resolve_model(small_model("gpt2", tmp_path)), 1))
    for prompt in ((1, 2, 3), (6, 5, 4)):
        request = NetworkRequest(precision, 1, prompt, 4, 15)
        made, alone = asked_about(request).state_dict(), built(tmp_path, request).state_dict()
        assert made.keys() == alone.keys()
        assert all(torch.equal(tensor, alone[name]) for name, tensor in made.items())
        next(undecided.in_other_ways(asked_about(request)))
    assert len(count) == len({id(linear) for linear, _ in count}) <= 6
