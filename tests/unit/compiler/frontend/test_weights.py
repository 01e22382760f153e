"""Weights from safetensors, and files that only claim to be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.options import Workload

CONFIG = Gpt2Config(n_embd=16, n_head=2, n_layer=1, n_inner=24, n_positions=8, vocab_size=10)


@pytest.fixture
def checkpoint(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A model's tensors in half precision, below `transformer.` as some checkpoints have them."""
    import torch

    torch.manual_seed(0)
    tensors = {
        f"transformer.{stored_name(name)}": torch.randn(parameter.shape).to(torch.bfloat16)
        for name, parameter in network().named_parameters()
    }
    return tmp_path / "model.safetensors", tensors


def network() -> Any:
    from compiler.frontend.models.language_model import LanguageModel

    return LanguageModel(CONFIG, 1)


def stored_name(name: str) -> str:
    from compiler.frontend.models.registry import FAMILIES

    return FAMILIES["gpt2"].stored(CONFIG, name).name


def load(path: Path) -> Any:
    from compiler.frontend.weights import fill_from_checkpoint

    made = network()
    fill_from_checkpoint(made, CONFIG, path)
    return made


def test_checkpoint_gives_the_weights(checkpoint: Any) -> None:
    import torch
    from safetensors.torch import save_file

    path, tensors = checkpoint
    save_file(tensors, path)
    state = dict(load(path).named_parameters())  # what the head shares is named once
    assert len(state) == len(tensors)
    for name, value in state.items():
        torch.testing.assert_close(value, tensors[f"transformer.{stored_name(name)}"].float())


def save_in_two(path: Path, tensors: dict[str, Any]) -> Path:
    """Two files and the index of both."""
    from safetensors.torch import save_file

    names = list(tensors)
    files = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for file, part in files.items():
        save_file({name: tensors[name] for name in part}, path.parent / file)
    index = path.parent / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {name: file for file, part in files.items() for name in part}}))
    return index


def test_checkpoint_in_several_files(checkpoint: Any) -> None:
    import torch

    path, tensors = checkpoint
    index = save_in_two(path, tensors)
    for name, value in load(index).named_parameters():
        torch.testing.assert_close(value, tensors[f"transformer.{stored_name(name)}"].float())


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "has no weight_map"),
        ('{"weight_map": {}}', "has no weight_map"),
        ('{"weight_map": {"a": 3}}', "has no weight_map"),
        ('{"weight_map": {"a": "../model-1.safetensors"}}', "must be a safetensors file beside the index"),
        ('{"weight_map": {"a": "model-9.safetensors"}}', "must be a safetensors file beside the index"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "must be a safetensors file beside the index"),
        ('{"weight_map": {"a": "model-1.safetensors"}}', "has no tensor"),
    ],
)
def test_bad_index(checkpoint: Any, index: str, message: str) -> None:
    path = save_in_two(*checkpoint)
    path.write_text(index)
    with pytest.raises(InvalidInputError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "has no tensor h.0.attn.c_attn.weight"),
        ((16, 47), r"is BF16 \[16, 47\]; the configuration needs \[16, 48\] of BF16, F16, F32"),
        ("int", r"is I32 \[16, 48\]"),
        ("nan", "holds values that are not finite"),
    ],
)
def test_wrong_tensors(checkpoint: Any, change: Any, message: str) -> None:
    import torch
    from safetensors.torch import save_file

    path, tensors = checkpoint
    name = "transformer.h.0.attn.c_attn.weight"
    match change:
        case None:
            del tensors[name]
        case "int":
            tensors[name] = torch.zeros(16, 48, dtype=torch.int32)
        case "nan":
            tensors[name][0, 0] = float("nan")
        case _:
            tensors[name] = torch.zeros(change, dtype=torch.bfloat16)
    save_file(tensors, path)
    with pytest.raises(InvalidInputError, match=message):
        load(path)


def header(value: object, claim: int | None = None) -> bytes:
    text = json.dumps(value).encode()
    return (len(text) if claim is None else claim).to_bytes(8, "little") + text


LYING = {"h.0.ln_1.weight": {"dtype": "F32", "shape": [16], "data_offsets": [0, 2**40]}}


@pytest.mark.parametrize(
    "content", [b"", b"1234", b"\0" * 64, header({}, 2**62), header([]), b"\4\0\0\0\0\0\0\0nope", header(LYING)]
)
def test_files_that_are_not_safetensors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"is not a (readable )?safetensors file|has no tensor"):
        load(path)


def test_seeded_values_depend_on_the_name_only() -> None:
    from compiler.frontend.seeds import seeded

    first, second = seeded("h0.x", (64, 64), 0.5, 1.0), seeded("h0.x", (64, 64), 0.5, 1.0)
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float32
    assert abs(first.mean() - 1.0) < 0.05
    assert abs(first.std() - 0.5) < 0.05
    assert not np.array_equal(first, seeded("h1.x", (64, 64), 0.5, 1.0))


def test_a_share_of_the_cache_is_empty_and_masked() -> None:
    from compiler.frontend.weights import make_inputs

    inputs = make_inputs(CONFIG, Workload("tiny", "decode", 8))
    assert list(inputs.named()) == ["hidden", "mask", "h0.k_past", "h0.v_past"]
    np.testing.assert_array_equal(inputs.other["mask"] == 0, [[True] * 6 + [False] + [True]])
    prefill = make_inputs(CONFIG, Workload("tiny", "prefill", 3)).other["mask"]
    np.testing.assert_array_equal(prefill == 0, np.tri(3, dtype=bool))
