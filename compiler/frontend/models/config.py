"""Checked configurations: a bounded whitelist of fields from a Hugging Face `config.json`; the rest is ignored."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from compiler.errors import InvalidInputError

MAX_CONFIG_BYTES = 1 << 20
ACTIVATIONS = ("gelu_new", "gelu", "gelu_pytorch_tanh", "relu")


@dataclass(frozen=True, slots=True)
class Gpt2Config:
    """GPT-2 (`model_type` "gpt2"), any size. Field names are those of Hugging Face."""

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

    model_type = "gpt2"

    @property
    def head_dim(self) -> int:
        return self.n_embd // self.n_head

    @property
    def layer_parameters(self) -> int:
        """Weights and biases of one block."""
        products = self.n_embd * (4 * self.n_embd + 2 * self.n_inner)
        return products + 9 * self.n_embd + self.n_inner

    def to_json(self) -> dict[str, Any]:
        return {"model_type": self.model_type, **asdict(self)}


ModelConfig = Gpt2Config


@dataclass(frozen=True, slots=True)
class _Int:
    low: int
    high: int

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise InvalidInputError(
                f"{name} is {_show(value)}; it must be a whole number between {self.low} and {self.high}"
            )
        return value


@dataclass(frozen=True, slots=True)
class _Float:
    low: float
    high: float

    def check(self, name: str, value: object) -> float:
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
        if not self.low <= number <= self.high:
            raise InvalidInputError(f"{name} is {_show(value)}; it must be a number between {self.low} and {self.high}")
        return float(number)


@dataclass(frozen=True, slots=True)
class _Choice:
    choices: tuple[str, ...]

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise InvalidInputError(f"{name} is {_show(value)}; it must be one of {', '.join(self.choices)}")
        return value


@dataclass(frozen=True, slots=True)
class _Bool:
    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidInputError(f"{name} is {_show(value)}; it must be true or false")
        return value


_GPT2_FIELDS: dict[str, _Int | _Float | _Choice | _Bool] = {
    "n_embd": _Int(8, 16384),
    "n_head": _Int(1, 256),
    "n_layer": _Int(1, 256),
    "n_inner": _Int(8, 65536),
    "n_positions": _Int(1, 1 << 20),
    "vocab_size": _Int(1, 1 << 20),
    "activation_function": _Choice(ACTIVATIONS),
    "layer_norm_epsilon": _Float(1e-12, 1e-1),
    "initializer_range": _Float(1e-6, 1.0),
    "scale_attn_weights": _Bool(),
    "scale_attn_by_inverse_layer_idx": _Bool(),
}
_GPT2_REQUIRED = ("n_embd", "n_head", "n_layer")


def _gpt2_config(fields: Mapping[str, object]) -> Gpt2Config:
    """Raises InvalidInputError naming the field, its range and what to do."""
    if missing := [name for name in _GPT2_REQUIRED if name not in fields]:
        raise InvalidInputError(f"the configuration lacks {', '.join(missing)}; a GPT-2 config.json has them")
    values: dict[str, Any] = {}
    for name, kind in _GPT2_FIELDS.items():
        if name in fields and not (name == "n_inner" and fields[name] is None):
            values[name] = kind.check(name, fields[name])
    values.setdefault("n_inner", 4 * values["n_embd"])
    config = Gpt2Config(**values)
    _GPT2_FIELDS["n_inner"].check("n_inner", config.n_inner)
    if config.n_embd % config.n_head:
        raise InvalidInputError(
            f"n_embd {config.n_embd} is not divisible by n_head {config.n_head}; every head has n_embd / n_head columns"
        )
    return config


FAMILIES: dict[str, Callable[[Mapping[str, object]], ModelConfig]] = {"gpt2": _gpt2_config}

BUILT_IN: dict[str, ModelConfig] = {
    "gpt2": Gpt2Config(),
    "gpt2-medium": Gpt2Config(n_embd=1024, n_head=16, n_layer=24, n_inner=4096),
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
        raise InvalidInputError(f"model_type is {_show(family)}; it must be one of {', '.join(FAMILIES)}")
    return FAMILIES[family](fields)


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model to import: its name, its configuration, and its weights if there are any (else they are seeded)."""

    name: str
    config: ModelConfig
    weights: Path | None = None


def resolve_model(model: str | Path) -> ModelSource:
    """A built-in name, or the path to a `config.json` or the folder that holds one. Raises InvalidInputError.

    A `model.safetensors` beside the configuration gives the weights.
    """
    if isinstance(model, str) and model in BUILT_IN:
        return ModelSource(model, BUILT_IN[model])
    path = Path(model)
    known = f"use one of {', '.join(BUILT_IN)} or the path to a config.json"
    try:
        path = path / "config.json" if path.is_dir() else path
        if not str(model) or not path.is_file():
            raise InvalidInputError(f"unknown model {_show(str(model))}; {known}")
        if (size := path.stat().st_size) > MAX_CONFIG_BYTES:
            raise InvalidInputError(f"{path} has {size} bytes; a config.json has at most {MAX_CONFIG_BYTES}")
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot read the model {_show(str(model))}: {error.strerror}; {known}") from error
    except ValueError as error:
        raise InvalidInputError(f"unknown model {_show(str(model))} ({error}); {known}") from error
    weights = path.parent / "model.safetensors"
    return ModelSource(path.parent.resolve().name, parse_config(text), weights if weights.is_file() else None)


def _show(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
