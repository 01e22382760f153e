"""Weights and inputs of a workload: from a checkpoint, or seeded by name, whatever the number of layers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from compiler.errors import InvalidInputError
from compiler.frontend.checkpoint import open_checkpoint
from compiler.frontend.models.config import ModelConfig
from compiler.frontend.models.inputs import cache_shape, network_inputs, network_tables, newest_first
from compiler.frontend.models.registry import cache_names, family_of
from compiler.frontend.seeds import seeded
from compiler.frontend.torch_types import tensor_of
from compiler.options import Workload

EMPTY_SHARE = 4  # one slot of so many is empty in the test data of a decode step: what masks it is tested


@dataclass(frozen=True)
class Inputs:
    """The inputs of one run: hidden states, then what `models.inputs` makes, then the cache of a decode step. `tables`:
    of what a step reads one row of, by its position, all rows.
    """

    hidden: NDArray[np.float32]
    other: dict[str, NDArray[np.float32]]
    past: dict[str, NDArray[Any]]
    tables: dict[str, NDArray[np.float32]] = field(default_factory=dict[str, NDArray[np.float32]])

    def named(self) -> dict[str, NDArray[Any]]:
        """All of them, in the order in which the network takes them."""
        return {"hidden": self.hidden, **self.other, **self.past}


def make_inputs(config: ModelConfig, workload: Workload) -> Inputs:
    """Hidden states of unit variance; a cache with the spread that seeded keys and values have, partly filled."""
    hidden = seeded("hidden", (1, workload.rows, config.hidden))
    if workload.phase == "head":
        return Inputs(hidden, {}, {})
    slots = workload.slots
    cached = slots - 1 if workload.steps else slots - slots // EMPTY_SHARE
    positions = range(cached, cached + workload.rows)
    other = network_inputs(config, workload.layers, positions, cached, slots + workload.rows)
    other = newest_first(other) if workload.steps else other
    past: dict[str, NDArray[np.float32]] = {}
    if workload.phase == "decode" or workload.steps:
        shape = cache_shape(config, slots)
        past = {f"{name}_past": seeded(f"{name}_past", shape, 0.5) for name in cache_names(workload.layers)}
    tables = network_tables(config, workload.layers, slots) if workload.steps else {}
    return Inputs(hidden, other, past, tables)


def fill_seeded(network: nn.Module, config: ModelConfig) -> None:
    """Give every parameter of `network` seeded values. Parameters are named as `registry.Family` says."""
    family = family_of(config)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            spread, mean = family.initialise(config, name)
            parameter.copy_(tensor_of(seeded(name, tuple(parameter.shape), spread, mean)))


def fill_from_checkpoint(network: nn.Module, config: ModelConfig, path: Path) -> None:
    """Give every parameter of `network` its values from a safetensors file, or an index of several.

    Raises InvalidInputError where a file is damaged, too large, or lacks a tensor of the right shape and type.
    """
    family = family_of(config)
    with open_checkpoint(path, family.prefixes) as checkpoint, torch.no_grad():
        for name, parameter in network.named_parameters():
            stored = family.stored(config, name)
            shape = tuple(parameter.shape)
            tensor = checkpoint.tensor(stored.name, shape[::-1] if stored.transposed else shape)
            parameter.copy_((tensor.T if stored.transposed else tensor) + stored.offset)
            if not bool(torch.isfinite(parameter).all()):
                raise InvalidInputError(f"{path}: tensor {stored.name} holds values that are not finite")
