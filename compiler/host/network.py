"""A network as `millrace generate` exports it, and the parts of it that the host computes, in f32.

The folder holds `network.json`, `embedding.npy`, `norm.npz`, `layer-NN.npz` (integers and scales of each layer),
`inputs-KIND.npz` (masks and rotary tables of each kind of layer), `reference.npz`, and where the network has them
`position.npy` and `head.npy`. The host does the embedding, the final normalisation and the head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DESCRIPTION = "network.json"
_HEAD_ROWS = 8192  # logits of so many words at a time: the head of a network with 262k words is over 1 GB


@dataclass(frozen=True)
class Description:
    """`rows` is what the prefill design takes, `length` the context of the decode design, its own row included.

    `kinds` names the inputs of each layer; `norm` and `epsilon` are the final normalisation's. `logit_cap` bounds the
    scores softly; None does not.
    """

    model: str
    precision: str
    hidden: int
    rows: int
    length: int
    prompt: tuple[int, ...]
    kinds: tuple[str, ...]
    norm: Literal["layer", "rms"]
    epsilon: float
    embedding_scale: float = 1.0
    logit_cap: float | None = None

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
        head = _optional(folder / "head.npy")
        self._head = self._embedding if head is None else head
        self._norm = _arrays(folder / "norm.npz")
        self._inputs = {kind: _arrays(folder / f"inputs-{kind}.npz") for kind in set(self.description.kinds)}

    def embed(self, tokens: list[int], first: int) -> Array:
        """Hidden states [1, tokens, hidden] of `tokens`, the first at position `first`."""
        hidden = np.asarray(self._embedding[tokens], np.float32) * np.float32(self.description.embedding_scale)
        if self._position is not None:
            hidden = hidden + self._position[first : first + len(tokens)]
        return hidden[np.newaxis]

    def logits(self, hidden: Array) -> Array:
        """Scores [vocabulary] of the next token, from the hidden state [hidden] after the last layer."""
        row = self._normalise(hidden.astype(np.float32))
        chunks = range(0, len(self._head), _HEAD_ROWS)
        scores: Array = np.concatenate([self._head[start : start + _HEAD_ROWS] @ row for start in chunks])
        cap = self.description.logit_cap
        return scores if cap is None else np.tanh(scores / np.float32(cap)) * np.float32(cap)

    def parameters(self) -> Mapping[str, Array]:
        """Of all layers, by their names: those of layer n begin with `hn.`."""
        files = (_arrays(self._folder / f"layer-{number:02}.npz") for number in range(self.description.layers))
        return {name: array for file in files for name, array in file.items()}

    def prefill_inputs(self) -> dict[str, Array]:
        """What the prefill design reads besides the hidden states: masks, rotary tables."""
        return self._select("prefill.")

    def decode_inputs(self, position: int) -> dict[str, Array]:
        """The same of the decode design for the token at `position`."""
        return {name: table[position] for name, table in self._select("decode.").items()}

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

    def _normalise(self, row: Array) -> Array:
        epsilon = np.float32(self.description.epsilon)
        if self.description.norm == "rms":
            return row / np.sqrt(np.mean(row * row) + epsilon) * self._norm["weight"]
        centred: Array = row - row.mean()
        return centred / np.sqrt(np.mean(centred * centred) + epsilon) * self._norm["weight"] + self._norm["bias"]


def _optional(path: Path) -> Array | None:
    return np.load(path, mmap_mode="r") if path.exists() else None


def _arrays(path: Path) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
