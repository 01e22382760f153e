"""Configurations of the decoder families: what is read, what is refused, and the same again from what is stored."""

import json
from typing import Any

import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.models.config import BUILT_IN, config_from_fields, parse_config
from compiler.frontend.models.decoder_config import DECODERS, DecoderConfig

SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
LLAMA3: dict[str, Any] = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def config(family: str, **changes: Any) -> DecoderConfig:
    made = parse_config(json.dumps({"model_type": family, **SIZES, **changes}))
    assert isinstance(made, DecoderConfig)
    return made


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_models_are_stored_and_read_again(name: str) -> None:
    assert config_from_fields(json.loads(json.dumps(BUILT_IN[name].to_json()))) == BUILT_IN[name]


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"attention_bias": True, "mlp_bias": True, "head_dim": 8, "rope_scaling": LLAMA3}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 2}),
        ("qwen3", {"tie_word_embeddings": True, "hidden_act": "gelu"}),
        ("gemma2", {"attn_logit_softcapping": None, "layer_types": ["full_attention"] * 5 + ["sliding_attention"]}),
        ("gemma3_text", {"sliding_window_pattern": 3, "rope_local_base_freq": 500.0}),
    ],
)
def test_what_is_stored_is_read_as_the_same(family: str, changes: dict[str, Any]) -> None:
    made = config(family, **changes)
    assert config_from_fields(made.to_json()) == made
    assert made != config(family)


def test_shared_properties_and_defaults() -> None:
    made = config("llama", num_key_value_heads=None, head_dim=None)
    assert (made.hidden, made.layers, made.positions, made.vocab_size) == (64, 6, 2048, 32000)
    assert (made.kv_heads, made.group, made.head_dim) == (4, 1, 16)
    assert made.rope.theta == 10000.0
    assert config("qwen3").head_dim == 128
    assert config("gemma2").score_scale == 1 / 16
    assert config("qwen2").qkv_bias
    assert not config("qwen2").attention_bias
    assert config("qwen2", sliding_window=16).sliding_window is None  # it does not slide


def test_which_layers_slide() -> None:
    assert config("gemma2").kinds == ("sliding", "full") * 3
    assert config("gemma3_text").kinds == ("sliding",) * 5 + ("full",)
    assert config("qwen2", use_sliding_window=True, sliding_window=8, max_window_layers=4).kinds[3:] == (
        "full", "sliding", "sliding",
    )  # fmt: skip
    assert config("qwen3").kinds == ("full",) * 6


def test_newer_files_nest_rotary_parameters() -> None:
    assert config("llama", rope_parameters={"rope_theta": 5.0, "rope_type": "default"}).rope.theta == 5.0
    assert config("llama", rope_parameters={"rope_theta": 1e4, **LLAMA3}) == config("llama", rope_scaling=LLAMA3)
    kinds = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 7.0},
        "sliding_attention": {"rope_theta": 3.0},
    }
    made = config("gemma3_text", rope_parameters=kinds)
    assert (made.rope.theta, made.sliding_rope.theta, made.sliding_rope.scaling) == (7.0, 3.0, None)
    assert made.rope.scaling is not None


@pytest.mark.parametrize("value", [0, -1, 2**40, True, "64", float("nan"), 64.0, None, [64]])
@pytest.mark.parametrize("field", ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"])
@pytest.mark.parametrize("family", DECODERS)
def test_bad_sizes_name_the_field_and_its_range(family: str, field: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=rf"^{field} is .*must be a whole number between \d+ and \d+$"):
        config(family, **{field: value})


@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        (
            "llama",
            {"num_hidden_layers": 3000},
            "num_hidden_layers is 3000; it must be a whole number between 1 and 256",
        ),
        ("llama", {"num_key_value_heads": 3}, "num_attention_heads 4 is not divisible by num_key_value_heads 3"),
        ("llama", {"head_dim": 7}, "head_dim is 7; rotary positions turn pairs"),
        ("llama", {"head_dim": 2048}, "head_dim is 2048; it must be a whole number between 2 and 1024"),
        ("llama", {"hidden_size": 8192, "num_attention_heads": 1, "num_key_value_heads": 1}, "head_dim is 8192"),
        ("llama", {"hidden_act": "swish9"}, "hidden_act is 'swish9'; it must be one of silu"),
        ("llama", {"rms_norm_eps": 0}, "rms_norm_eps is 0; it must be a number between"),
        ("llama", {"sliding_window": 128}, "sliding_window is 128, which Millrace does not build for llama"),
        ("llama", {"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5, which"),
        ("llama", {"num_local_experts": 8}, "num_local_experts is 8, which"),
        ("llama", {"quantization_config": {"quant_method": "awq"}}, "quantization_config is {'quant_method': 'awq'}"),
        ("qwen2", {"attention_bias": True}, "attention_bias is True, which Millrace does not build for qwen2"),
        ("qwen2", {"use_mrope": True}, "use_mrope is True, which"),
        ("qwen3", {"layer_types": ["full_attention"] * 5}, "layer_types is ['full_attention', "),
        ("qwen3", {"layer_types": "full"}, "layer_types is 'full'; it must list one type for each of 6 layers"),
        ("qwen3", {"layer_types": ["chunked_attention"] * 6}, "layer_types is 'chunked_attention'; it must be one of"),
        ("qwen3", {"use_sliding_window": 1}, "use_sliding_window is 1; it must be true or false"),
        ("qwen3", {"use_sliding_window": True, "max_window_layers": 0}, "sliding_window is null"),
        ("gemma2", {"sliding_window": None}, "sliding_window is null; layers that slide need its width"),
        ("gemma2", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar is 0; it must be a number between"),
        ("gemma3_text", {"attn_logit_softcapping": 50.0}, "attn_logit_softcapping is 50.0, which Millrace does not"),
        ("gemma3_text", {"use_bidirectional_attention": True}, "use_bidirectional_attention is True, which"),
        ("gemma3_text", {"sliding_window_pattern": 0}, "sliding_window_pattern is 0; it must be"),
        ("gemma3_text", {"rope_parameters": {"rope_theta": 1e6}}, "rope_parameters lacks full_attention"),
        ("llama", {"rope_parameters": {"full_attention": {}}}, "rope_parameters.full_attention is an object"),
        ("llama", {"rope_scaling": {"type": "yarn", "factor": 4.0}}, "rope_type is 'yarn'; it must be one of default"),
        ("llama", {"rope_scaling": {"type": "linear"}}, "the configuration lacks factor"),
        ("llama", {"rope_scaling": {**LLAMA3, "factor": 0.5}}, "factor is 0.5; it must be a number between"),
        ("llama", {"rope_scaling": {**LLAMA3, "high_freq_factor": 1.0}}, "high_freq_factor is 1.0; it must be above"),
        ("llama", {"rope_scaling": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5, which"),
        ("llama", {"rope_scaling": 3}, "rope_scaling is 3; it must be an object"),
        ("llama", {"rope_theta": 0}, "rope_theta is 0; it must be a number between"),
    ],
)
def test_refused_by_name(family: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        config(family, **changes)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 300


def test_missing_fields_are_named() -> None:
    with pytest.raises(InvalidInputError, match="lacks hidden_size, intermediate_size, num_hidden_layers, num_att"):
        config_from_fields({"model_type": "qwen3"})


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "gemma2", "gemma3_text"])
def test_declared_parameters_are_those_of_a_block(family: str) -> None:
    from compiler.frontend.models.decoder import DecoderBlock

    biased = {"attention_bias": True} if family != "qwen2" else {}
    for made in (config(family), config(family, **biased)):
        assert made.layer_parameters == sum(p.numel() for p in DecoderBlock(made, 0).parameters())


def test_published_sizes() -> None:
    """Parameters of all blocks, in millions, of the built-in models."""
    assert {name: round(c.layers * c.layer_parameters / 1e6) for name, c in BUILT_IN.items()} == {
        "gpt2": 85,
        "gpt2-medium": 302,
        "qwen2.5-0.5b": 358,
        "llama-1.1b": 969,
        "gemma3-1b": 698,
    }
