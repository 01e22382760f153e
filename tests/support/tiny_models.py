"""Small models of each family, as folders with a config.json. Weights are seeded, wide enough that tokens vary."""

import json
from pathlib import Path
from typing import Any

_SIZES: dict[str, Any] = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
}
_GPT2: dict[str, Any] = {
    "vocab_size": 97,  # no tile divides it: it is padded
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 3,
    "n_positions": 64,
    "initializer_range": 0.3,
}
_WINDOW = {"sliding_window": 5, "sliding_window_pattern": 2, "query_pre_attn_scalar": 8, "head_dim": 8}
TINY_MODELS: dict[str, dict[str, Any]] = {
    "gpt2": {"model_type": "gpt2", **_GPT2, "tie_word_embeddings": False},
    "llama": {"model_type": "llama", **_SIZES},
    "gemma3": {"model_type": "gemma3_text", **_SIZES, **_WINDOW, "tie_word_embeddings": False},
}


def tiny_model(name: str, folder: Path) -> Path:
    """The model's folder, made below `folder`."""
    model = folder / name
    model.mkdir()
    (model / "config.json").write_text(json.dumps(TINY_MODELS[name]))
    return model
