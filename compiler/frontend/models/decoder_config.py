"""Checked configurations of the decoders with rotary positions: Llama, Qwen2, Qwen3, Gemma-2 and Gemma-3 text.

They are one network with options. What a family's `config.json` may hold, its defaults and what it has that the file
does not say stand in one table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from compiler.errors import InvalidInputError
from compiler.frontend.models.fields import Bool, Choice, Float, Int, Kind, Maybe, refuse_options, require, show
from compiler.frontend.models.rope import Rope, read_rope, read_sliding_rope

LayerKind = Literal["full", "sliding"]
ACTIVATIONS = ("silu", "gelu_pytorch_tanh", "gelu", "relu")
_KIND_OF: dict[str, LayerKind] = {"full_attention": "full", "sliding_attention": "sliding"}
_TYPE_OF = {kind: name for name, kind in _KIND_OF.items()}


@dataclass(frozen=True, slots=True)
class Traits:
    """What a family has whatever its file says.

    `qkv_bias`: biases on Q, K and V alone. `qk_norm`: each head of Q and K is normalised. `unit_offset`: stored norm
    weights are differences from one. `outer_norms`: what a block adds is normalised too. `scaled_embedding`: tokens
    are multiplied by sqrt(hidden). `own_sliding_rope`: sliding layers turn at a frequency of their own.
    """

    qkv_bias: bool = False
    qk_norm: bool = False
    unit_offset: bool = False
    outer_norms: bool = False
    scaled_embedding: bool = False
    own_sliding_rope: bool = False


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Names are those of Hugging Face where it has one; the properties are shared by all families."""

    model_type: str
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int
    rms_norm_eps: float
    activation: str
    initializer_range: float
    tie_word_embeddings: bool
    kinds: tuple[LayerKind, ...]
    rope: Rope
    sliding_rope: Rope
    sliding_window: int | None = None
    attention_bias: bool = False
    mlp_bias: bool = False
    query_pre_attn_scalar: float | None = None
    attn_logit_softcapping: float | None = None
    final_logit_softcapping: float | None = None

    @property
    def hidden(self) -> int:
        return self.hidden_size

    @property
    def layers(self) -> int:
        return self.num_hidden_layers

    @property
    def positions(self) -> int:
        return self.max_position_embeddings

    @property
    def kv_heads(self) -> int:
        return self.num_key_value_heads

    @property
    def group(self) -> int:
        """Query heads that share a key and value head."""
        return self.num_attention_heads // self.num_key_value_heads

    @property
    def traits(self) -> Traits:
        return _FAMILIES[self.model_type].traits

    @property
    def qkv_bias(self) -> bool:
        return self.attention_bias or self.traits.qkv_bias

    @property
    def score_scale(self) -> float:
        """What the products of queries and keys are multiplied by."""
        return (self.query_pre_attn_scalar or self.head_dim) ** -0.5

    @property
    def layer_parameters(self) -> int:
        """Weights, biases and norms of one block."""
        hidden, ffn = self.hidden_size, self.intermediate_size
        queries, keys = self.num_attention_heads * self.head_dim, self.num_key_value_heads * self.head_dim
        products = hidden * (2 * queries + 2 * keys + 3 * ffn)
        biases = (
            self.qkv_bias * (queries + 2 * keys) + self.attention_bias * hidden + self.mlp_bias * (2 * ffn + hidden)
        )
        norms = hidden * (4 if self.traits.outer_norms else 2) + 2 * self.head_dim * self.traits.qk_norm
        return products + biases + norms

    def to_json(self) -> dict[str, Any]:
        """What `decoder_config` reads back as the same configuration."""
        family = _FAMILIES[self.model_type]
        kept = {name: getattr(self, name) for name in (*_COMMON, *family.options)}
        sliding = {"rope_local_base_freq": self.sliding_rope.theta} if self.traits.own_sliding_rope else {}
        return {
            "model_type": self.model_type,
            **kept,
            family.activation_name: self.activation,
            "layer_types": [_TYPE_OF[kind] for kind in self.kinds],
            "rope_theta": self.rope.theta,
            "rope_scaling": self.rope.scaling.to_json() if self.rope.scaling else None,
            **sliding,
        }


@dataclass(frozen=True, slots=True)
class _Family:
    """`options` are the fields beyond `_COMMON` that the family knows; `sliding` says which layers slide where the file
    has no `layer_types`: none, all but every n-th, or the last ones.
    """

    traits: Traits
    defaults: Mapping[str, object]
    options: tuple[str, ...] = ()
    activation_name: str = "hidden_act"
    sliding: Literal["none", "alternating", "last"] = "none"
    pattern: int = 1


_COMMON: dict[str, Kind] = {
    "hidden_size": Int(8, 16384),
    "intermediate_size": Int(8, 65536),
    "num_hidden_layers": Int(1, 256),
    "num_attention_heads": Int(1, 256),
    "num_key_value_heads": Int(1, 256),
    "head_dim": Int(2, 1024),
    "vocab_size": Int(1, 1 << 20),
    "max_position_embeddings": Int(1, 1 << 20),
    "rms_norm_eps": Float(1e-12, 1e-1),
    "initializer_range": Float(1e-6, 1.0),
    "tie_word_embeddings": Bool(),
}
_OPTIONS: dict[str, Kind] = {
    "attention_bias": Bool(),
    "mlp_bias": Bool(),
    "sliding_window": Maybe(Int(1, 1 << 20)),
    "query_pre_attn_scalar": Float(1.0, 65536.0),
    "attn_logit_softcapping": Maybe(Float(1e-3, 1e6)),
    "final_logit_softcapping": Maybe(Float(1e-3, 1e6)),
}
_REQUIRED = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
_BASE = {"rms_norm_eps": 1e-6, "initializer_range": 0.02, "activation": "silu", "rope_theta": 10000.0}
_QWEN = {**_BASE, "vocab_size": 151936, "max_position_embeddings": 32768, "tie_word_embeddings": False}
_GEMMA = {
    **_BASE,
    "activation": "gelu_pytorch_tanh",
    "tie_word_embeddings": True,
    "head_dim": 256,
    "num_key_value_heads": 4,
    "query_pre_attn_scalar": 256.0,
    "sliding_window": 4096,
}
_FAMILIES: dict[str, _Family] = {
    "llama": _Family(
        Traits(),
        {**_BASE, "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": False},
        ("attention_bias", "mlp_bias"),
    ),
    "qwen2": _Family(Traits(qkv_bias=True), _QWEN, ("sliding_window",), sliding="last"),
    "qwen3": _Family(
        Traits(qk_norm=True), {**_QWEN, "head_dim": 128}, ("attention_bias", "sliding_window"), sliding="last"
    ),
    "gemma2": _Family(
        Traits(unit_offset=True, outer_norms=True, scaled_embedding=True),
        {
            **_GEMMA,
            "vocab_size": 256000,
            "max_position_embeddings": 8192,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
        },
        (
            "attention_bias",
            "sliding_window",
            "query_pre_attn_scalar",
            "attn_logit_softcapping",
            "final_logit_softcapping",
        ),
        activation_name="hidden_activation",
        sliding="alternating",
        pattern=2,
    ),
    "gemma3_text": _Family(
        Traits(qk_norm=True, unit_offset=True, outer_norms=True, scaled_embedding=True, own_sliding_rope=True),
        {**_GEMMA, "vocab_size": 262208, "max_position_embeddings": 131072, "rope_theta": 1e6},
        ("attention_bias", "sliding_window", "query_pre_attn_scalar", "final_logit_softcapping"),
        activation_name="hidden_activation",
        sliding="alternating",
        pattern=6,
    ),
}
DECODERS = tuple(_FAMILIES)
_LOCAL_THETA = 10000.0


def decoder_config(fields: Mapping[str, object]) -> DecoderConfig:
    """The fields of a `config.json`, checked. Raises InvalidInputError naming the field, its range and what to do."""
    name = cast(str, fields["model_type"])
    family = _FAMILIES[name]
    require(name, fields, _REQUIRED)
    refuse_options(name, fields)
    refuse_options(name, fields, {option: (False,) for option in _OPTIONS if option not in family.options})
    values = _values(family, fields)
    layers = values["num_hidden_layers"]
    kinds = _kinds(family, fields, layers)
    window = values.pop("sliding_window", None)
    own = family.traits.own_sliding_rope
    rope = read_rope(name, fields, cast(float, family.defaults["rope_theta"]), by_kind=own)
    config = DecoderConfig(
        model_type=name,
        kinds=kinds,
        rope=rope,
        sliding_rope=read_sliding_rope(name, fields, _LOCAL_THETA) if own else rope,
        sliding_window=window if "sliding" in kinds else None,
        **values,
    )
    _check_shape(config)
    return config


def _values(family: _Family, fields: Mapping[str, object]) -> dict[str, Any]:
    """Checked fields of the family, its defaults where the file has none."""
    values: dict[str, Any] = {}
    for name, kind in {**_COMMON, **{option: _OPTIONS[option] for option in family.options}}.items():
        optional = name in family.defaults or name in {"num_key_value_heads", "head_dim"}
        if name in fields and (fields[name] is not None or not optional or isinstance(kind, Maybe)):
            values[name] = kind.check(name, fields[name])
        elif name in family.defaults:
            values[name] = family.defaults[name]
    heads = values["num_attention_heads"]
    values.setdefault("num_key_value_heads", heads)
    values.setdefault("head_dim", max(values["hidden_size"] // heads, 1))
    activation = fields.get(family.activation_name)
    values["activation"] = Choice(ACTIVATIONS).check(
        family.activation_name, family.defaults["activation"] if activation is None else activation
    )
    return values


def _kinds(family: _Family, fields: Mapping[str, object], layers: int) -> tuple[LayerKind, ...]:
    """What each layer sees: everything, or a sliding window."""
    given = fields.get("layer_types")
    if given is not None:
        return _given_kinds(given, layers)
    if family.sliding == "alternating":
        pattern = fields.get("sliding_window_pattern")
        every = family.pattern if pattern is None else Int(1, 256).check("sliding_window_pattern", pattern)
        return tuple("sliding" if (layer + 1) % every else "full" for layer in range(layers))
    first = layers
    if family.sliding == "last" and Bool().check("use_sliding_window", fields.get("use_sliding_window", False)):
        first = Int(0, 256).check("max_window_layers", fields.get("max_window_layers", 28))
    return tuple("sliding" if layer >= first else "full" for layer in range(layers))


def _given_kinds(given: object, layers: int) -> tuple[LayerKind, ...]:
    shown = show(given)
    types = cast(list[object], given) if isinstance(given, list) else []
    if len(types) != layers:
        raise InvalidInputError(f"layer_types is {shown}; it must list one type for each of {layers} layers")
    known = Choice(tuple(_KIND_OF))
    return tuple(_KIND_OF[known.check("layer_types", entry)] for entry in types)


def _check_shape(config: DecoderConfig) -> None:
    if config.num_attention_heads % config.num_key_value_heads:
        raise InvalidInputError(
            f"num_attention_heads {config.num_attention_heads} is not divisible by num_key_value_heads "
            f"{config.num_key_value_heads}; every key and value head serves as many query heads"
        )
    _COMMON["head_dim"].check("head_dim", config.head_dim)
    if config.head_dim % 2:
        raise InvalidInputError(f"head_dim is {config.head_dim}; rotary positions turn pairs: it must be even")
    if "sliding" in config.kinds and config.sliding_window is None:
        raise InvalidInputError("sliding_window is null; layers that slide need its width")
