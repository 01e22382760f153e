"""A design directory as the host sees it: memory images, kernels with their arguments, scalars, results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .packing import NATIVE, Dealt, Layout, join, join_packed, layout_from_json

LOAD = "load"  # what a launch is told: 1 to fill memories that keep what they hold, 0 to use what is there
Role = Literal["param", "input", "kept", "output", "intermediate"]


@dataclass(frozen=True)
class Part:
    """A tensor that lies in an image with others, as `Image` has it."""

    sources: tuple[str, ...]
    stacked: bool
    layout: Layout

    def content(self, tensors: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """The tensor, in its true shape and type. Raises KeyError where it is missing."""
        return _content(self.sources, self.stacked, tensors).reshape(self.layout.true_shape)


@dataclass(frozen=True)
class Image:
    """A tensor in the device's memory; `sources` is its name in the network, or where `stacked` one a layer or more, of
    tensors that lie one behind the other. There is none for what kernels make. Launches add rows to one that is `kept`.

    `files` holds the content of each channel, relative to the design directory; empty for intermediates. `parts`:
    several tensors lie in it, some tokens of each in every one of `rounds`, but of the last `behind`, which lie behind
    all rounds; `sources` are those of all. Where they are `packed`, each is so by itself. Tokens that are `dealt` lie
    in pieces.
    """

    name: str
    role: Role
    value: str
    sources: tuple[str, ...]
    stacked: bool
    shape: tuple[int, ...]
    layout: Layout
    files: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    rounds: int = 1
    behind: int = 0
    packed: bool = False
    dealt: Dealt | None = None

    @property
    def channel_bytes(self) -> int:
        return self.layout.channel_bytes

    def content(self, tensors: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """What it holds of a network's tensors, in its shape and type. Raises KeyError where one is missing."""
        if self.parts:
            contents = [part.content(tensors) for part in self.parts]
            layouts = [part.layout for part in self.parts]
            if self.packed:
                whole = join_packed(contents, layouts, self.rounds, self.behind)
            else:
                whole = join(contents, layouts, self.rounds, self.behind, self.dealt)
        else:
            whole = _content(self.sources, self.stacked, tensors)
        return whole.reshape(self.shape).astype(NATIVE[self.layout.dtype], copy=False)


def _content(sources: tuple[str, ...], stacked: bool, tensors: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    found = [np.asarray(tensors[source]) for source in sources]
    return np.stack([tensor.ravel() for tensor in found]) if stacked else found[0]  # equal elements, in any shapes


@dataclass(frozen=True)
class Kernel:
    """Arguments of a kernel: channels of images, scalars by the name of their value, arguments of the launch."""

    name: str
    channels: tuple[tuple[str, int], ...]
    scalars: tuple[str, ...]
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scalar:
    """A kernel argument that is a number of the network: f32 or i32."""

    value: str
    source: str
    dtype: str


@dataclass(frozen=True)
class Result:
    """A result of the network: image `image`, or its part of a `layer`, transposed by `permutation` to `shape`. Where
    it has `rows`, each launch makes the one of its position.
    """

    name: str
    image: str
    permutation: tuple[int, ...]
    shape: tuple[int, ...]
    layer: int | None = None
    rows: int | None = None

    def of(self, tensor: NDArray[Any]) -> NDArray[Any]:
        """The result, from what the image holds; of several rows, one behind the other."""
        if self.rows is not None:
            return np.stack([row.transpose(self.permutation).reshape(self.shape) for row in tensor])
        part = tensor if self.layer is None else tensor[self.layer]
        return part.transpose(self.permutation).reshape(self.shape)


@dataclass(frozen=True)
class Design:
    """`kernels` run in order. `images` by name; `arguments` that every launch is given, with their largest values.
    `memories`: images that fill memories, in launches that are told to `LOAD` them, which keep them for later ones.
    """

    directory: Path
    name: str
    images: dict[str, Image]
    kernels: tuple[Kernel, ...]
    scalars: tuple[Scalar, ...]
    results: tuple[Result, ...]
    arguments: Mapping[str, int] = field(default_factory=dict[str, int])
    memories: tuple[str, ...] = ()


def load_design(directory: Path) -> Design:
    """Read `params/manifest.json`. Raises OSError or KeyError where `directory` is no design of this version."""
    manifest = json.loads((directory / "params" / "manifest.json").read_text())
    images = [_image(entry) for entry in manifest["images"]]
    return Design(
        directory,
        manifest["name"],
        {image.name: image for image in images},
        tuple(
            Kernel(
                k["name"],
                tuple((b["image"], b["channel"]) for b in k["buffers"]),
                tuple(k["scalars"]),
                tuple(k.get("arguments", ())),
            )
            for k in manifest["kernels"]
        ),
        tuple(Scalar(s["value"], s["source"], s["dtype"]) for s in manifest["scalars"]),
        tuple(
            Result(r["name"], r["image"], tuple(r["permutation"]), tuple(r["shape"]), r.get("layer"), r.get("rows"))
            for r in manifest["results"]
        ),
        {a["name"]: a["most"] for a in manifest.get("arguments", ()) if a["name"] != LOAD},
        tuple(manifest.get("memories", ())),
    )


def _image(entry: dict[str, Any]) -> Image:
    files = tuple(channel["file"] for channel in entry["channel_images"] if "file" in channel)
    layout, shape = layout_from_json(entry), tuple(entry["shape"])
    joint = entry.get("joint", {"rounds": 1, "parts": ()})
    parts = tuple(Part(_sources(part), "sources" in part, layout_from_json(entry | part)) for part in joint["parts"])
    sources = tuple(source for part in parts for source in part.sources) or _sources(entry)
    names = entry["name"], entry["role"], entry["value"]
    return Image(
        *names,
        sources,
        "sources" in entry,
        shape,
        layout,
        files,
        parts,
        joint["rounds"],
        joint.get("behind", 0),
        joint.get("packed", False),
        Dealt(*joint["dealt"]) if "dealt" in joint else None,
    )


def _sources(entry: Mapping[str, Any]) -> tuple[str, ...]:
    one = (entry["source"],) if entry["source"] else ()
    return tuple(entry.get("sources", one))
