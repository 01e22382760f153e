"""The network around the blocks: sizes and seeds. That it computes what Hugging Face's does: test_families.py."""

import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.models.config import config_from_fields

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
    assert state.keys() - network.state_dict().keys() == {"embedding", "norm.weight"}
    assert abs(float(state["h1.attn_norm.weight"].mean()) - 1) < 0.05
    assert abs(float(state["h1.mlp.proj.weight"].mean())) < 0.05


def test_too_large_a_network_is_refused_before_it_is_built() -> None:
    from compiler.frontend.models.language_model import LanguageModel

    config = config_from_fields({**SIZES, "hidden_size": 16384, "vocab_size": 1 << 20})
    with pytest.raises(InvalidInputError, match=r"the whole network has 6\d+ MiB of weights; at most 32768 MiB"):
        LanguageModel(config)
