"""Weights from safetensors, and files that only claim to be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.errors import InvalidInputError
from compiler.frontend.models.config import Gpt2Config
from compiler.frontend.models.gpt2 import CHECKPOINT_NAMES

CONFIG = Gpt2Config(n_embd=16, n_head=2, n_layer=1, n_inner=24, n_positions=8)


@pytest.fixture
def checkpoint(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A block's tensors in half precision, below `transformer.` as some checkpoints have them."""
    import torch

    from compiler.frontend.models.gpt2 import Gpt2

    torch.manual_seed(0)
    shapes = {name: tuple(p.shape) for name, p in Gpt2(CONFIG, 1).named_parameters()}
    tensors = {
        f"transformer.h.0.{CHECKPOINT_NAMES[name.partition('.')[2]]}": torch.randn(shape).to(torch.bfloat16)
        for name, shape in shapes.items()
    }
    return tmp_path / "model.safetensors", tensors


def load(path: Path) -> Any:
    from compiler.frontend.models.registry import FAMILIES
    from compiler.frontend.weights import fill_from_checkpoint

    network = FAMILIES["gpt2"].build(CONFIG, 1)
    fill_from_checkpoint(network, FAMILIES["gpt2"], path)
    return network


def test_checkpoint_gives_the_weights(checkpoint: Any) -> None:
    import torch
    from safetensors.torch import save_file

    path, tensors = checkpoint
    save_file(tensors, path)
    state = load(path).state_dict()
    for name, theirs in CHECKPOINT_NAMES.items():
        torch.testing.assert_close(state[f"h0.{name}"], tensors[f"transformer.h.0.{theirs}"].float())


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
    from compiler.frontend.weights import seeded

    first, second = seeded("h0.x", (64, 64), 0.5, 1.0), seeded("h0.x", (64, 64), 0.5, 1.0)
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float32
    assert abs(first.mean() - 1.0) < 0.05
    assert abs(first.std() - 0.5) < 0.05
    assert not np.array_equal(first, seeded("h1.x", (64, 64), 0.5, 1.0))
