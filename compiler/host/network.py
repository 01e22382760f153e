"""A network as `millrace generate` exports it: what a design of the phase `token` is loaded with, by its names.

The folder holds `network.json`, `embedding.npy` (a row of every token, as it is added up), `layer-NN.npz` (integers and
scales of each layer), `outside.npz` (those of what follows the last layer; masks, rotary tables and, where the network
has them, rows of every position), and `reference.npz`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DESCRIPTION = "network.json"


@dataclass(frozen=True)
class Description:
    """`length` is how many positions there are tables for."""

    model: str
    precision: str
    layers: int
    length: int
    prompt: tuple[int, ...]


class Network:
    """Reads the folder as it is needed. Raises OSError, KeyError or ValueError where it is damaged."""

    def __init__(self, folder: Path) -> None:
        fields = json.loads((folder / DESCRIPTION).read_text())
        self.description = Description(**(fields | {"prompt": tuple(fields["prompt"])}))
        self._folder = folder

    def tensors(self) -> Mapping[str, Array]:
        """All that a design of the network reads and no launch writes: those of layer n begin with `hn.`."""
        layers = (f"layer-{number:02}.npz" for number in range(self.description.layers))
        files = (_arrays(self._folder / name) for name in (*layers, "outside.npz"))
        found = {name: array for file in files for name, array in file.items()}
        return found | {"embedding": np.load(self._folder / "embedding.npy", mmap_mode="r")}

    def reference(self) -> Mapping[str, Array]:
        """What the quantised PyTorch network gives: `tokens`, `hidden` after the last layer, `margin` of the choice."""
        return _arrays(self._folder / "reference.npz")


def _arrays(path: Path) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
