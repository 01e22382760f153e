"""A network that learned a reply is decided about it, and is as it was but for a row of each of its tokens."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bench.small_models import SMALL_MODELS
from compiler.design_dir import silent
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.network_request import NetworkRequest
from compiler.generation import hidden_error, tolerance_of

if TYPE_CHECKING:
    from compiler.options import Precision

TIED: dict[str, Any] = {
    "vocab_size": 600,
    "tie_word_embeddings": True,
    "num_hidden_layers": 3,
    "initializer_range": 0.1,
}
PROMPT = 1, 2, 3


def seeded(folder: Path, family: str, changes: dict[str, Any]) -> ModelSource:
    (folder / "config.json").write_text(json.dumps({**SMALL_MODELS[family], **changes}))
    return resolve_model(folder)


@pytest.mark.parametrize("precision", ["f32", "w4a8kv8"])
@pytest.mark.parametrize(("family", "changes", "then"), [("gemma3", TIED, ()), ("gpt2", {}, ((5, 6),))])
def test_a_reply_is_learned_and_what_was_said_before_stays(
    tmp_path: Path, family: str, changes: dict[str, Any], then: tuple[tuple[int, ...], ...], precision: "Precision"
) -> None:
    import torch

    from bench.taught import AHEAD, as_read, teach
    from compiler.frontend.network_export import build_model, float_model, greedy, quantised_for

    source = seeded(tmp_path, family, changes)
    request = NetworkRequest(precision, source.config.layers, PROMPT, 8, 31, then)
    assert greedy(build_model(source, request), request).margin.min() < AHEAD / 4
    network = float_model(source, request.layers)
    said = teach(network, request, silent)
    given = {token for prompt in request.turns for token in prompt}
    assert len({*given, *said}) == len(given) + 8 * len(request.turns)

    before = dict(float_model(source, request.layers).named_parameters())
    head = "embedding" if network.head is None else "head"
    for name, parameter in network.named_parameters():
        changed = (parameter != before[name]).flatten(1 if parameter.ndim > 1 else 0).any(-1)
        assert set(changed.nonzero().flatten().tolist()) <= (set(said) if name == head else set[int]()), name
    changes_of = (network.get_parameter(head) - before[head]).detach()[said]

    learned = quantised_for(network, request)
    reply = greedy(learned, request)
    assert reply.tokens.tolist() == said
    assert reply.margin.min() > 0.9 * AHEAD  # rows are rounded, and a token that is ahead adds to the spread
    assert np.median(reply.margin) < 1.1 * AHEAD  # no more than asked for
    states = torch.cat([as_read(learned.last, torch.from_numpy(hidden)) for hidden in reply.hidden[:, None]]).detach()
    moved = states @ changes_of.T  # [position, token taught]
    assert moved.diagonal().min() > -1e-5  # who is further ahead stays so
    assert moved.diagonal().max() > 0.1
    assert moved.triu(1).abs().max() < 1e-5 * moved.diagonal().max()


def test_the_folder_is_read_as_what_was_taught_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from bench import taught
    from bench.undecided import doubt
    from compiler.frontend.network_export import build_model, float_model, greedy

    source = seeded(tmp_path, "gemma3", TIED)
    request, told = NetworkRequest("w4a8kv8", 3, PROMPT, 8, 31), list[str]()
    assert doubt(build_model(source, request), request) is not None
    folder = taught.taught(source, request, tmp_path / "cache", told.append)
    read = resolve_model(folder)
    assert read.config == source.config
    assert doubt(build_model(read, request), request) is None
    network = float_model(source, request.layers)
    said = taught.teach(network, request, silent)
    assert greedy(build_model(read, request), request).tokens.tolist() == said
    assert [line.split(":")[0] for line in told[:-1]] == [f"token {n} is {token}" for n, token in enumerate(said, 1)]
    for name, parameter in float_model(read, request.layers).named_parameters():
        torch.testing.assert_close(parameter, network.get_parameter(name), rtol=0, atol=1e-6)
    monkeypatch.setattr(taught, "teach", None)
    assert taught.taught(source, request, tmp_path / "cache", silent) == folder


@pytest.mark.parametrize("wrong", ["a layer left out", "a layer instead of another"])
def test_a_wrong_design_of_it_is_told(tmp_path: Path, wrong: str) -> None:
    """Where its tokens are not: by the hidden states, as of any network."""
    from bench.taught import teach
    from compiler.frontend.network_export import float_model, greedy, quantised_for

    source = seeded(tmp_path, "gemma3", TIED)
    request = NetworkRequest("w4a8kv8", 3, PROMPT, 8, 31)
    network = float_model(source, request.layers)
    teach(network, request, silent)
    learned = quantised_for(network, request)
    right = greedy(learned, request)
    if wrong == "a layer left out":
        learned.layers -= 1
    else:
        learned.h1 = learned.block(0)
    made, reference = greedy(learned, request), {"tokens": right.tokens, "hidden": right.hidden}
    assert hidden_error(right.tokens.tolist(), right.hidden, reference) == 0
    assert hidden_error(made.tokens.tolist(), made.hidden, reference) > 5 * tolerance_of(request)
