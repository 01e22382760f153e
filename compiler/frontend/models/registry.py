"""Network families by `model_type`. A new family adds its configuration to models/config.py and its network here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from compiler.frontend.models.config import Gpt2Config, ModelConfig
from compiler.frontend.models.gpt2 import CHECKPOINT_NAMES, Gpt2
from compiler.options import Workload

NetworkInputs = tuple[Tensor, Tensor | None, tuple[Tensor, ...]]  # hidden, mask, past


@dataclass(frozen=True)
class Family:
    """What the importer needs to know of a family.

    `build` makes the network of so many layers (called as `network(hidden, mask, past)`), `initialise` gives the
    standard deviation and mean of a parameter's seeded values, `checkpoint_name` where it lies in a checkpoint.
    """

    build: Callable[[ModelConfig, int], nn.Module]
    initialise: Callable[[ModelConfig, str], tuple[float, float]]
    checkpoint_name: Callable[[str], str]


@dataclass(frozen=True)
class Inputs:
    """The inputs of one run: hidden states, the mask of a prefill, the cache of a decode step."""

    hidden: np.ndarray
    mask: np.ndarray | None
    past: dict[str, np.ndarray]

    def named(self) -> dict[str, np.ndarray]:
        mask = {} if self.mask is None else {"mask": self.mask}
        return {"hidden": self.hidden, **mask, **self.past}


def cache_names(layers: int) -> tuple[str, ...]:
    """K and V of each layer, in the order of a network's `past` and results."""
    return tuple(f"h{layer}.{part}" for layer in range(layers) for part in ("k", "v"))


def cache_shape(config: ModelConfig, rows: int) -> tuple[int, int, int, int]:
    return (1, config.n_head, rows, config.head_dim)


def mask_of(workload: Workload) -> np.ndarray | None:
    """Additive causal mask [rows, length] of a prefill; a single row attends to everything before it."""
    if workload.phase == "decode":
        return None
    lowest = np.float32(np.finfo(np.float32).min)
    return np.triu(np.full((workload.rows, workload.length), lowest, np.float32), 1)


def _gpt2_initialise(config: Gpt2Config, name: str) -> tuple[float, float]:
    spread = config.initializer_range
    if name.endswith("proj.weight"):
        return spread / (2 * config.n_layer) ** 0.5, 0.0  # GPT-2 scales what enters the residual stream
    return spread, 1.0 if ".ln_" in name and name.endswith("weight") else 0.0


def _gpt2_checkpoint_name(name: str) -> str:
    layer, _, tensor = name.partition(".")
    return f"h.{layer.removeprefix('h')}.{CHECKPOINT_NAMES[tensor]}"


FAMILIES: dict[str, Family] = {"gpt2": Family(Gpt2, _gpt2_initialise, _gpt2_checkpoint_name)}
