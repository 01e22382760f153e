"""A small model of each family, of two layers; weights are seeded, wide enough that tokens vary."""

import json
from pathlib import Path
from typing import Any

_SIZES = {
    "vocab_size": 97, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "initializer_range": 0.3, "tie_word_embeddings": False,
}  # fmt: skip
SMALL_MODELS: dict[str, dict[str, Any]] = {
    "gpt2": {
        "model_type": "gpt2", "vocab_size": 97, "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 64,
        "initializer_range": 0.3, "tie_word_embeddings": False,
    },
    "qwen2": {"model_type": "qwen2", **_SIZES},
    "llama": {"model_type": "llama", **_SIZES},
    "gemma3": {
        "model_type": "gemma3_text", **_SIZES, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 5,
        "sliding_window_pattern": 2,
    },
}  # fmt: skip


def small_model(name: str, folder: Path) -> Path:
    """Its folder, below `folder`."""
    model = folder / name
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(SMALL_MODELS[name]))
    return model
