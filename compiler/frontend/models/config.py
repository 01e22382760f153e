"""Checked configurations by family, the built-in models, and where a model comes from.

A bounded whitelist of fields is read from a Hugging Face `config.json`. Options that would change the mathematics in a
way that no family here has are refused by name; the rest is ignored.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from compiler.errors import InvalidInputError
from compiler.frontend.models.decoder_config import DECODERS, DecoderConfig, decoder_config
from compiler.frontend.models.fields import show
from compiler.frontend.models.gpt2_config import Gpt2Config, gpt2_config

MAX_CONFIG_BYTES = 1 << 20
WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json")

ModelConfig = Gpt2Config | DecoderConfig

FAMILIES: dict[str, Callable[[Mapping[str, object]], ModelConfig]] = {
    "gpt2": gpt2_config,
    **dict.fromkeys(DECODERS, decoder_config),
}

# Shapes as in the papers' tables; what these leave out is from the models' published configurations.
BUILT_IN: dict[str, ModelConfig] = {
    "gpt2": Gpt2Config(),
    "gpt2-medium": Gpt2Config(n_embd=1024, n_head=16, n_layer=24, n_inner=4096),
    "qwen2.5-0.5b": decoder_config(
        {
            "model_type": "qwen2",
            "hidden_size": 896,
            "intermediate_size": 4864,
            "num_hidden_layers": 24,
            "num_attention_heads": 14,
            "num_key_value_heads": 2,
            "vocab_size": 151936,
            "max_position_embeddings": 32768,
            "rope_theta": 1000000.0,
            "tie_word_embeddings": True,
        }
    ),
    "llama-1.1b": decoder_config(
        {
            "model_type": "llama",
            "hidden_size": 2048,
            "intermediate_size": 5632,
            "num_hidden_layers": 22,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "vocab_size": 32000,
            "max_position_embeddings": 2048,
            "rms_norm_eps": 1e-5,
        }
    ),
    "gemma3-1b": decoder_config(
        {
            "model_type": "gemma3_text",
            "hidden_size": 1152,
            "intermediate_size": 6912,
            "num_hidden_layers": 26,
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "head_dim": 256,
            "vocab_size": 262144,
            "max_position_embeddings": 32768,
            "sliding_window": 512,
        }
    ),
}


def parse_config(text: str | bytes) -> ModelConfig:
    """The checked configuration in a `config.json`. Raises InvalidInputError."""
    if len(text) > MAX_CONFIG_BYTES:
        raise InvalidInputError(f"the configuration has {len(text)} bytes; at most {MAX_CONFIG_BYTES} are accepted")
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the configuration is not JSON ({error}); pass the model's config.json") from error
    if not isinstance(data, dict):
        raise InvalidInputError("the configuration is not a JSON object; pass the model's config.json")
    return config_from_fields(cast(dict[str, object], data))


def config_from_fields(fields: Mapping[str, object]) -> ModelConfig:
    """The checked configuration of a family, chosen by `model_type`. Raises InvalidInputError."""
    family = fields.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise InvalidInputError(f"model_type is {show(family)}; it must be one of {', '.join(FAMILIES)}")
    return FAMILIES[family](fields)


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model to import: its name, its configuration, and its weights if there are any (else they are seeded).

    `weights` is a safetensors file, or the JSON index of several beside it.
    """

    name: str
    config: ModelConfig
    weights: Path | None = None


def resolve_model(model: str | Path) -> ModelSource:
    """A built-in name, or the path to a `config.json` or the folder that holds one. Raises InvalidInputError.

    A `model.safetensors` beside the configuration gives the weights, or the index of one in several files.
    """
    if isinstance(model, str) and model in BUILT_IN:
        return ModelSource(model, BUILT_IN[model])
    path = Path(model)
    known = f"use one of {', '.join(BUILT_IN)} or the path to a config.json"
    try:
        path = path / "config.json" if path.is_dir() else path
        if not str(model) or not path.is_file():
            raise InvalidInputError(f"unknown model {show(str(model))}; {known}")
        if (size := path.stat().st_size) > MAX_CONFIG_BYTES:
            raise InvalidInputError(f"{path} has {size} bytes; a config.json has at most {MAX_CONFIG_BYTES}")
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot read the model {show(str(model))}: {error.strerror}; {known}") from error
    except ValueError as error:
        raise InvalidInputError(f"unknown model {show(str(model))} ({error}); {known}") from error
    weights = next((path.parent / name for name in WEIGHT_FILES if (path.parent / name).is_file()), None)
    return ModelSource(path.parent.resolve().name, parse_config(text), weights)


def imported_parameters(config: ModelConfig, phase: str, layers: int) -> int:
    """How many weights an import of that phase holds; those of a whole network with what is in front of the layers and
    behind.
    """
    vocabulary = config.vocab_size * config.hidden
    if phase == "head":
        return vocabulary
    return config.layer_parameters * layers + (2 * vocabulary if phase == "token" else 0)
