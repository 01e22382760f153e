"""The checked configuration of GPT-2 (`model_type` "gpt2"), any size."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compiler.errors import InvalidInputError
from compiler.frontend.models.fields import Bool, Choice, Float, Int, Kind, refuse_options, require

ACTIVATIONS = ("gelu_new", "gelu", "gelu_pytorch_tanh", "relu")


@dataclass(frozen=True, slots=True)
class Gpt2Config:
    """Field names are those of Hugging Face; the properties are shared by all families."""

    n_embd: int = 768
    n_head: int = 12
    n_layer: int = 12
    n_inner: int = 3072
    n_positions: int = 1024
    vocab_size: int = 50257
    activation_function: str = "gelu_new"
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    tie_word_embeddings: bool = True

    model_type = "gpt2"

    @property
    def hidden(self) -> int:
        return self.n_embd

    @property
    def layers(self) -> int:
        return self.n_layer

    @property
    def positions(self) -> int:
        return self.n_positions

    @property
    def kv_heads(self) -> int:
        return self.n_head

    @property
    def head_dim(self) -> int:
        return self.n_embd // self.n_head

    @property
    def layer_parameters(self) -> int:
        """Weights and biases of one block."""
        products = self.n_embd * (4 * self.n_embd + 2 * self.n_inner)
        return products + 9 * self.n_embd + self.n_inner

    def to_json(self) -> dict[str, Any]:
        """What `gpt2_config` reads back as the same configuration. Databases hold digests of it: it must not grow."""
        fields = asdict(self)
        if self.tie_word_embeddings:
            del fields["tie_word_embeddings"]
        return {"model_type": self.model_type, **fields}


_FIELDS: dict[str, Kind] = {
    "n_embd": Int(8, 16384),
    "n_head": Int(1, 256),
    "n_layer": Int(1, 256),
    "n_inner": Int(8, 65536),
    "n_positions": Int(1, 1 << 20),
    "vocab_size": Int(1, 1 << 20),
    "activation_function": Choice(ACTIVATIONS),
    "layer_norm_epsilon": Float(1e-12, 1e-1),
    "initializer_range": Float(1e-6, 1.0),
    "scale_attn_weights": Bool(),
    "scale_attn_by_inverse_layer_idx": Bool(),
    "tie_word_embeddings": Bool(),
}


def gpt2_config(fields: Mapping[str, object]) -> Gpt2Config:
    """The fields of a `config.json`, checked. Raises InvalidInputError naming the field, its range and what to do."""
    require("gpt2", fields, ("n_embd", "n_head", "n_layer"))
    refuse_options("gpt2", fields)
    values: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        if name in fields and not (name == "n_inner" and fields[name] is None):
            values[name] = kind.check(name, fields[name])
    values.setdefault("n_inner", 4 * values["n_embd"])
    config = Gpt2Config(**values)
    _FIELDS["n_inner"].check("n_inner", config.n_inner)
    if config.n_embd % config.n_head:
        raise InvalidInputError(
            f"n_embd {config.n_embd} is not divisible by n_head {config.n_head}; every head has n_embd / n_head columns"
        )
    return config
