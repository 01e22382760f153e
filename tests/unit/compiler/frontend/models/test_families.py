"""Our blocks, around them our language model, are Hugging Face's: same weights, prefill and decode, every family."""

import importlib
from typing import Any

import pytest
from torchvision_blocks import load_torchvision

from compiler.frontend.models.config import ModelConfig, config_from_fields

pytestmark = pytest.mark.slow

SIZES: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
GEMMA = {"sliding_window": 4, "query_pre_attn_scalar": 24, "head_dim": 16}
ROWS = 11  # more than the sliding window

CASES: dict[str, dict[str, Any]] = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 40, "n_embd": 48, "n_head": 3, "n_layer": 3, "n_inner": 80},
    "llama": {"model_type": "llama", "rope_theta": 1000.0},
    "llama-biased": {"model_type": "llama", "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "llama-stretched": {"model_type": "llama", "rope_scaling": LLAMA3, "head_dim": 12},
    "qwen2": {"model_type": "qwen2", "num_key_value_heads": 6},
    "qwen2-sliding": {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "qwen3": {"model_type": "qwen3", "head_dim": 16, "tie_word_embeddings": True},
    "gemma2": {"model_type": "gemma2", **GEMMA, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
    "gemma3_text": {"model_type": "gemma3_text", **GEMMA, "num_key_value_heads": 1, "sliding_window_pattern": 2},
    "gemma3-linear": {"model_type": "gemma3_text", **GEMMA, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
}


def fields_of(case: str) -> dict[str, Any]:
    fields = CASES[case]
    return fields if fields["model_type"] == "gpt2" else {**SIZES, **fields}


def theirs_of(fields: dict[str, Any]) -> Any:
    """transformers' network with random weights that make every part matter."""
    import torch

    load_torchvision()  # transformers imports it
    # By name: of the list of all its models the type checker would know for ten seconds, and nothing would come of it.
    library = importlib.import_module("transformers")
    options = {name: value for name, value in fields.items() if name != "model_type"}
    config = library.AutoConfig.for_model(fields["model_type"], **options)
    network = library.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            mean = 1.0 if "norm" in name and "gemma" not in fields["model_type"] and name.endswith("weight") else 0.0
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3 + mean)
    return network


@pytest.fixture(scope="module", params=CASES)
def networks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Configuration, our network from a checkpoint that transformers saved, and theirs."""
    from compiler.frontend.models.language_model import LanguageModel
    from compiler.frontend.weights import fill_from_checkpoint

    fields = fields_of(request.param)
    theirs = theirs_of(fields)
    folder = tmp_path_factory.mktemp("checkpoint")
    theirs.save_pretrained(folder)
    config = config_from_fields(fields)
    ours = LanguageModel(config).eval()
    fill_from_checkpoint(ours, config, folder / "model.safetensors")
    return config, ours, theirs


def tensors(config: ModelConfig, layer: int, positions: range, cached: int, length: int) -> Any:
    import torch

    from compiler.frontend.models.inputs import block_inputs

    return {n: torch.from_numpy(a) for n, a in block_inputs(config, layer, positions, cached, length).items()}


def run(config: ModelConfig, ours: Any, tokens: Any, start: int, pasts: list[Any], empty: int = 0) -> Any:
    """Hidden states after every block, new caches, logits. `empty` slots of each cache hold rubbish."""
    import torch

    positions = range(start, start + len(tokens))
    hidden = ours.embed(tokens, torch.tensor(positions))
    states, caches = [hidden], []
    for layer in range(config.layers):
        past = pasts[layer] if pasts else None
        if past is not None:
            past = tuple(torch.cat((p, torch.full((*p.shape[:2], empty, p.shape[3]), 9.0)), 2) for p in past)
        inputs = tensors(config, layer, positions, start, start + empty + len(tokens))
        hidden, key, value = ours.run_block(layer, hidden, inputs, past)
        states.append(hidden)
        caches.append((key, value))
    return states, caches, ours.logits(hidden)


def test_prefill_and_decode_equal_transformers(networks: Any) -> None:
    import torch

    config, ours, theirs = networks
    tokens = torch.randint(0, 40, (ROWS,), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = theirs(tokens[None], output_hidden_states=True)
        states, caches, logits = run(config, ours, tokens, 0, [])
        pasts = [(key[:, :, :-1], value[:, :, :-1]) for key, value in caches]
        step, new, next_logits = run(config, ours, tokens[-1:], ROWS - 1, pasts, empty=3)
    for mine, their in zip(states[:-1], expected.hidden_states[:-1], strict=True):
        close(mine, their)
    close(logits, expected.logits)
    for layer, (key, value) in enumerate(caches):
        close(new[layer][0], key[:, :, -1:])
        close(new[layer][1], value[:, :, -1:])
        close(step[layer + 1], states[layer + 1][:, -1:])
    close(next_logits, expected.logits[:, -1:])


def close(mine: Any, theirs: Any) -> None:
    """Within 1e-4 of the largest magnitude."""
    assert mine.shape == theirs.shape
    assert float((mine - theirs).abs().max()) <= 1e-4 * float(theirs.abs().max())


@pytest.mark.parametrize("case", ["qwen2-sliding", "gemma2", "gemma3_text"])
def test_sliding_layers_forget(case: str) -> None:
    """The first and the last position of a sliding window differ from those of a layer that sees everything."""
    from compiler.frontend.models.inputs import block_inputs, layer_kind

    config = config_from_fields(fields_of(case))
    kinds = [layer_kind(config, layer) for layer in range(config.layers)]
    assert set(kinds) == {"full", "sliding"}
    for layer, kind in enumerate(kinds):
        seen = block_inputs(config, layer, range(ROWS), 0, ROWS)["mask"] == 0
        assert seen.sum() == (ROWS * (ROWS + 1) // 2 if kind == "full" else 4 * ROWS - 6)
