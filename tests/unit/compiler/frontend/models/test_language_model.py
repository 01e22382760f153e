"""The network around the blocks: sizes and seeds. That it computes what Hugging Face's does: test_families.py."""

import random

import pytest

from compiler.frontend.models.config import ModelSource, config_from_fields

pytestmark = pytest.mark.slow

SIZES = {
    "model_type": "gemma3_text",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "vocab_size": 20,
}


def test_layers_hold_the_weights_of_a_workload() -> None:
    """A layer's parameters, seeded, are those of the bundle of as many layers: by name and value."""
    import torch

    from compiler.frontend.models.language_model import LanguageModel
    from compiler.frontend.models.registry import Network, family_of
    from compiler.frontend.weights import fill_seeded

    config = config_from_fields(SIZES)
    model = LanguageModel(config)
    network = Network([family_of(config).block(config, layer) for layer in range(2)], (), ["", ""])
    fill_seeded(model, config)
    fill_seeded(network, config)
    state = model.state_dict()
    for name, value in network.state_dict().items():
        torch.testing.assert_close(value, state[name], rtol=0, atol=0)
    assert state.keys() - network.state_dict().keys() == {
        "embedding", "norm.weight", "last.norm.weight", "last.head.weight",
    }  # fmt: skip
    assert state["last.head.weight"].data_ptr() == state["embedding"].data_ptr()
    assert abs(float(state["h1.attn_norm.weight"].mean()) - 1) < 0.05
    assert abs(float(state["h1.mlp.proj.weight"].mean())) < 0.05


def test_positions_that_the_model_does_not_have_are_zeros() -> None:
    from compiler.frontend.models.language_model import LanguageModel
    from compiler.frontend.weights import fill_seeded

    config = config_from_fields({"model_type": "gpt2", "n_embd": 32, "n_head": 2, "n_layer": 1, "n_positions": 20})
    model = LanguageModel(config)
    fill_seeded(model, config)
    few, all_of_them = (model.tables(length)["positions"] for length in (16, 31))
    assert (few.shape, all_of_them.shape) == ((16, 1, 1, 32), (31, 1, 1, 32))
    assert (all_of_them[:16] == few).all()
    assert all_of_them[:20].abs().sum(-1).all()
    assert not all_of_them[20:].any()


TIED = {
    "gpt2": {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 6},
    "qwen2": {**SIZES, "model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 6, "tie_word_embeddings": True},
    "gemma3": {**SIZES, "hidden_size": 64, "num_hidden_layers": 6, "sliding_window": 5},
    "llama": {**SIZES, "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 6},
}


@pytest.mark.parametrize("family", TIED)
def test_seeded_tokens_vary_and_depend_on_the_blocks(family: str) -> None:
    """Else that the tokens are equal says little: a tied head likes to give the last token back."""
    import torch

    from compiler.frontend.network_export import build_model, greedy
    from compiler.frontend.network_request import NetworkRequest

    config = config_from_fields({**TIED[family], "vocab_size": 4096, "initializer_range": 0.1})
    prompts = [tuple(random.Random(seed).randrange(4096) for _ in range(8)) for seed in range(8)]
    requests = [NetworkRequest("f32", 2, prompt, 16, 32) for prompt in prompts]
    model = build_model(ModelSource(family, config), requests[0])
    tokens = [greedy(model, request).tokens.tolist() for request in requests]
    assert sum(len(set(made)) for made in tokens) >= 8 * 6, tokens
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("h0.attn") and name.endswith("proj.weight"):
                parameter.zero_()
    changed = [greedy(model, request).tokens.tolist() != made for request, made in zip(requests, tokens, strict=True)]
    assert sum(changed) >= 6
