"""A network as `millrace generate` exports it: what a design of the phase `token` is loaded with, by its names.

The folder holds `network.json`, `embedding.npy` (a row of every token, as it is added up), `layer-NN.npz` (integers and
scales of each layer), `outside.npz` (those of what follows the last layer; masks, rotary tables and, where the network
has them, rows of every position), and `reference.npz`. `network.json` has digests of all of them: a file that is not as
it was exported is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DESCRIPTION, DIGESTS = "network.json", "digests"
PROMPT = "prompt"  # the table of tokens that are given


@dataclass(frozen=True)
class Description:
    """`length` is how many positions there are tables for, of which the model has `positions`. The reference has
    `tokens` tokens in each turn; of a conversation, in which `then` is said behind each reply, fewer where one is
    `end`.
    """

    model: str
    positions: int
    precision: str
    layers: int
    length: int
    prompt: tuple[int, ...]
    tokens: int
    then: tuple[tuple[int, ...], ...] = ()
    end: int | None = None

    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        """The prompt of each reply."""
        return (self.prompt, *self.then)


class DamagedError(ValueError):
    """A file of a network is not as it was exported."""


class Network:
    """Reads the folder as it is needed. Raises DamagedError for a file that is not as it was exported, OSError for one
    that is missing, KeyError or ValueError where the description is damaged.
    """

    def __init__(self, folder: Path) -> None:
        fields = json.loads((folder / DESCRIPTION).read_text())
        self._digests: dict[str, str] = fields.pop(DIGESTS)
        self._known = set[str]()
        prompt, *then = (tuple[int, ...](ids) for ids in (fields["prompt"], *fields["then"]))
        self.description = Description(**(fields | {"prompt": prompt, "then": tuple(then)}))
        self._folder = folder

    def tensors(self) -> Mapping[str, Array]:
        """All that a design of the network reads and no launch writes: those of layer n begin with `hn.`."""
        layers = (f"layer-{number:02}.npz" for number in range(self.description.layers))
        files = (_arrays(self._checked(name)) for name in (*layers, "outside.npz"))
        found = {name: array for file in files for name, array in file.items()}
        return found | {"embedding": np.load(self._checked("embedding.npy"), mmap_mode="r")}

    def reference(self) -> Mapping[str, Array]:
        """What the quantised PyTorch network gives: `tokens`, `hidden` after the last layer, `margin` of the choice."""
        return _arrays(self._checked("reference.npz"))

    def _checked(self, name: str) -> Path:
        """The file of that name, of which the digest is taken once."""
        file = self._folder / name
        if name in self._known:
            return file
        if (found := digest(file)) != (expected := self._digests[name]):
            raise DamagedError(
                f"{file} is not as it was exported: its SHA-256 begins with {found[:12]}, not with {expected[:12]}; "
                "copy it again, or export the network anew"
            )
        self._known.add(name)
        return file


def digest(file: Path) -> str:
    """SHA-256 of its bytes. Raises OSError."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def prompt_rows(length: int, prompt: Sequence[int] = (), position: int = 0) -> Array:
    """Of each of `length` positions the token that is given to follow it, negative where it is to be chosen: those of a
    `prompt` whose first token stands at `position`. Int32 [length, 1, 1].
    """
    rows = np.full((length, 1, 1), -1, np.int32)
    rows[position : position + len(prompt[1:]), 0, 0] = prompt[1:]
    return rows


def _arrays(path: Path) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
