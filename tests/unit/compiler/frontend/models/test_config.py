"""Bad configurations are refused with the field, its range and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.models.config import config_from_fields, parse_config, resolve_model
from compiler.frontend.models.gpt2_config import Gpt2Config

GOOD: dict[str, Any] = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}


def test_whitelist_and_defaults() -> None:
    text = json.dumps({**GOOD, "n_inner": None, "auto_map": {"AutoModel": "evil.py"}, "torch_dtype": "float16"})
    assert parse_config(text) == Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256)


def test_what_is_stored_stays_what_it_was() -> None:
    """Databases hold a digest of the built-in configurations: a field more would be another network."""
    stored = Gpt2Config().to_json()
    assert "tie_word_embeddings" not in stored
    assert config_from_fields(stored) == Gpt2Config()
    untied = Gpt2Config(tie_word_embeddings=False)
    assert config_from_fields(untied.to_json()) == untied


@pytest.mark.parametrize("value", [0, -1, 2**40, True, "64", float("nan"), float("inf"), 64.0, None, [64], {}])
@pytest.mark.parametrize("field", ["n_embd", "n_head", "n_layer", "n_positions", "vocab_size"])
def test_bad_sizes_name_the_field_and_its_range(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=rf"^{field} is .*must be a whole number between \d+ and \d+$"):
        parse_config(json.dumps({**GOOD, field: value}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_embd": 66}, "n_embd 66 is not divisible by n_head 4"),
        ({"n_inner": 7}, "n_inner is 7; it must be a whole number between 8"),
        ({"n_embd": 16384, "n_head": 4}, None),
        ({"activation_function": "swish"}, "activation_function is 'swish'; it must be one of gelu_new"),
        ({"activation_function": 3}, "activation_function is 3; it must be one of"),
        ({"layer_norm_epsilon": 0}, "layer_norm_epsilon is 0; it must be a number between"),
        ({"layer_norm_epsilon": float("nan")}, "layer_norm_epsilon is nan; it must be a number between"),
        ({"scale_attn_weights": 1}, "scale_attn_weights is 1; it must be true or false"),
        ({"add_cross_attention": True}, "add_cross_attention is True, which Millrace does not build for gpt2"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads is {'0': [1]}, which Millrace does not build for gpt2"),
        ({"model_type": "mamba"}, "model_type is 'mamba'; it must be one of gpt2"),
        ({"model_type": ["gpt2"]}, "model_type is ['gpt2']; it must be one of gpt2"),
        ({"model_type": "x" * 1000}, "model_type is 'xxx"),
    ],
)
def test_bad_fields(change: dict[str, Any], message: str | None) -> None:
    text = json.dumps({**GOOD, **change})
    if message is None:
        parse_config(text)
        return
    with pytest.raises(InvalidInputError) as caught:
        parse_config(text)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ('{"model_type": "gpt2", "n_em', "is not JSON"),
        ("[1, 2]", "is not a JSON object"),
        ("null", "is not a JSON object"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "model_type is None"),
        ('{"model_type": "gpt2"}', "lacks n_embd, n_head, n_layer"),
        (b"\xff\xfe\x00", "is not JSON"),
        (" " * (2 << 20), "at most 1048576"),
        ('{"n_embd": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_malformed_text(text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_config(text)


def test_resolve_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GOOD))
    for path in (tmp_path, tmp_path / "config.json", str(tmp_path)):
        source = resolve_model(path)
        assert (source.name, source.config.hidden, source.weights) == (tmp_path.name, 64, None)
    assert resolve_model("gpt2-medium").config.layers == 24


def test_weights_lie_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GOOD))
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    assert resolve_model(tmp_path).weights == index
    single = tmp_path / "model.safetensors"
    single.write_bytes(b"")
    assert resolve_model(tmp_path).weights == single


@pytest.mark.parametrize("model", ["gpt9", "", "/no/such/file", "a\0b", "x" * 100_000])
def test_unknown_model(model: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        resolve_model(model)
    assert len(str(caught.value)) < 500


def test_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(InvalidInputError, match="at most 1048576"):
        resolve_model(path)
