"""Weights and inputs of a workload: from a `model.safetensors`, or seeded by name, whatever the number of layers."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from compiler.errors import InvalidInputError
from compiler.frontend.models.config import ModelConfig
from compiler.frontend.models.registry import Family, Inputs, cache_names, cache_shape, mask_of
from compiler.frontend.torch_types import tensor_of
from compiler.options import Workload

SEED = 0
MAX_WEIGHT_BYTES = 16 << 30
MAX_HEADER_BYTES = 64 << 20
_FLOATS = {"F32", "F16", "BF16"}


def seeded(name: str, shape: tuple[int, ...], spread: float = 1.0, mean: float = 0.0) -> NDArray[np.float32]:
    """Normal values that depend on `name` and SEED only."""
    digest = sha256(f"{SEED}:{name}".encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:16], "little"))
    return (generator.standard_normal(shape, np.float32) * np.float32(spread) + np.float32(mean)).astype(np.float32)


def make_inputs(config: ModelConfig, workload: Workload) -> Inputs:
    """Hidden states of unit variance; a cache with the spread that seeded keys and values have."""
    hidden = seeded("hidden", (1, workload.rows, config.n_embd))
    past: dict[str, NDArray[np.float32]] = {}
    if workload.phase == "decode":
        shape = cache_shape(config, workload.length - workload.rows)
        past = {f"{name}_past": seeded(f"{name}_past", shape, 0.5) for name in cache_names(workload.layers)}
    return Inputs(hidden, mask_of(workload), past)


def fill_seeded(network: nn.Module, family: Family, config: ModelConfig) -> None:
    """Give every parameter of `network` seeded values."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            spread, mean = family.initialise(config, name)
            parameter.copy_(tensor_of(seeded(name, tuple(parameter.shape), spread, mean)))


def fill_from_checkpoint(network: nn.Module, family: Family, path: Path) -> None:
    """Give every parameter of `network` its values from a safetensors file.

    Raises InvalidInputError where the file is damaged, too large, or lacks a tensor of the right shape and type.
    """
    header = read_header(path)
    try:
        with cast(Any, safe_open(path, "pt")) as tensors, torch.no_grad():  # it has no types
            for name, parameter in network.named_parameters():
                stored = _stored_name(header, family.checkpoint_name(name), tuple(parameter.shape), path)
                parameter.copy_(cast(Tensor, tensors.get_tensor(stored)).to(torch.float32))
    except (SafetensorError, OSError) as error:
        raise InvalidInputError(f"{path} is not a readable safetensors file: {error}") from error
    for name, parameter in network.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            raise InvalidInputError(f"{path}: tensor {family.checkpoint_name(name)} holds values that are not finite")


def read_header(path: Path) -> dict[str, Any]:
    """The checked header of a safetensors file: sizes first, so that nothing large is read on a lie."""
    size = path.stat().st_size
    if size > MAX_WEIGHT_BYTES:
        raise InvalidInputError(f"{path} has {size} bytes; at most {MAX_WEIGHT_BYTES} are accepted")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(MAX_HEADER_BYTES, size - 8):
            raise InvalidInputError(f"{path} is not a safetensors file: its header claims {length} bytes of {size}")
        text = file.read(length)
    try:
        header: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not a safetensors file: its header is not JSON") from error
    if not isinstance(header, dict):
        raise InvalidInputError(f"{path} is not a safetensors file: its header is not an object")
    return cast(dict[str, Any], header)


def _stored_name(header: dict[str, Any], name: str, shape: tuple[int, ...], path: Path) -> str:
    stored = next((n for n in (name, f"transformer.{name}") if n in header), None)
    if stored is None:
        raise InvalidInputError(f"{path} has no tensor {name}; its config.json describes another model")
    entry = header[stored]
    fields = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    dtype, found = fields.get("dtype"), fields.get("shape")
    if found != list(shape) or dtype not in _FLOATS:
        raise InvalidInputError(
            f"{path}: tensor {stored} is {dtype} {found}; the configuration needs {list(shape)} of "
            f"{', '.join(sorted(_FLOATS))}"
        )
    return stored
