"""A network as `millrace generate` exports it, and the part of it that the host computes: the row of the embedding.

The folder holds `network.json`, `embedding.npy`, `layer-NN.npz` (integers and scales of each layer), `head.npz` (those
of what follows the last layer), `inputs-KIND.npz` (masks and rotary tables of each kind of layer), `reference.npz`, and
where the network has it `position.npy`.
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
    """`rows` is what the prefill design takes, `length` how many positions the decode design can be told.

    `kinds` names the inputs of each layer.
    """

    model: str
    precision: str
    hidden: int
    rows: int
    length: int
    prompt: tuple[int, ...]
    kinds: tuple[str, ...]
    embedding_scale: float = 1.0

    @property
    def layers(self) -> int:
        return len(self.kinds)


class Network:
    """Reads the folder as it is needed. Raises OSError, KeyError or ValueError where it is damaged."""

    def __init__(self, folder: Path) -> None:
        fields = json.loads((folder / DESCRIPTION).read_text())
        fields |= {"prompt": tuple(fields["prompt"]), "kinds": tuple(fields["kinds"])}
        self.description = Description(**fields)
        self._folder = folder
        self._embedding = np.load(folder / "embedding.npy", mmap_mode="r")
        self._position = _optional(folder / "position.npy")
        self._inputs = {kind: _arrays(folder / f"inputs-{kind}.npz") for kind in set(self.description.kinds)}

    def embed(self, tokens: list[int], first: int) -> Array:
        """Hidden states [1, tokens, hidden] of `tokens`, the first at position `first`."""
        hidden = np.asarray(self._embedding[tokens], np.float32) * np.float32(self.description.embedding_scale)
        if self._position is not None:
            hidden = hidden + self._position[first : first + len(tokens)]
        return hidden[np.newaxis]

    def parameters(self) -> Mapping[str, Array]:
        """Of all layers, by their names: those of layer n begin with `hn.`."""
        files = (_arrays(self._folder / f"layer-{number:02}.npz") for number in range(self.description.layers))
        return {name: array for file in files for name, array in file.items()}

    def head(self) -> Mapping[str, Array]:
        """Parameters of the head design: the final norm and the products with the vocabulary."""
        return _arrays(self._folder / "head.npz")

    def prefill_inputs(self) -> dict[str, Array]:
        """What the prefill design reads besides the hidden states: masks, rotary tables."""
        return self._select("prefill.")

    def step_tables(self) -> dict[str, Array]:
        """The same of the decode design, at each position: a launch reads the row of its own."""
        return self._select("step.")

    def reference(self) -> Mapping[str, Array]:
        """What the quantised PyTorch network gives: `tokens`, `hidden` after the last layer, `margin` of the choice."""
        return _arrays(self._folder / "reference.npz")

    def _select(self, prefix: str) -> dict[str, Array]:
        """Tables of each kind of layer, by the names of the design's inputs."""
        return {
            f"{name.removeprefix(prefix)}{'' if kind == 'full' else f'_{kind}'}": table
            for kind, tables in self._inputs.items()
            for name, table in tables.items()
            if name.startswith(prefix)
        }


def _optional(path: Path) -> Array | None:
    return np.load(path, mmap_mode="r") if path.exists() else None


def _arrays(path: Path) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
