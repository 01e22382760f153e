"""The memory images and scalars that a run of a design reads and leaves, as tensors."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from compiler.design_dir import TENSORS, tensor_digest
from compiler.errors import VerificationError
from compiler.frontend.interpret import NUMPY_DTYPE, Array
from compiler.graph.linalg_graph import Value
from compiler.graph.padded_array import crop_array, pad_array
from compiler.graph.task_graph import Dma, LoadTask, StoreTask
from compiler.targets.images import join, pack, split, unpack
from compiler.targets.interface import Image, Interface


@dataclass
class Memory:
    """Of one run: `design` holds what it reads, `results` what it writes. Images between kernels have no file: what
    was stored is kept for those that load it.
    """

    design: Path
    results: Path
    interface: Interface
    _between: dict[str, Array] = field(default_factory=dict[str, Array])

    @cached_property
    def scalars(self) -> dict[str, Array]:
        """Values that kernels pass to tasks, by name: four bytes each."""
        raw = (self.design / "params" / "scalars.bin").read_bytes() if self.interface.scalars else b""
        words = [raw[at : at + 4] for at in range(0, len(raw), 4)]
        return {
            value.name: np.frombuffer(word, np.dtype(NUMPY_DTYPE[value.dtype]), 1).reshape(())
            for value, word in zip(self.interface.scalars, words, strict=True)
        }

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Of the network's tensors; designs of an earlier release lack them."""
        file = self.design / "tb" / TENSORS
        return json.loads(file.read_text()) if file.is_file() else {}

    def loaded(self, task: LoadTask) -> Array:
        """The tensor that the load should read, padding included. Raises VerificationError where memory holds another
        than the network has, or something beside it.
        """
        image = self._image(task)
        if image.role == "intermediate":
            if image.name not in self._between:
                raise VerificationError(f"it loads {image.name} before that is stored")
            return self._between[image.name]
        channels = self._channels(self.results if image.role == "output" else self.design, image)
        tensor = unpack(channels, task.dma)
        true = self._checked(image, tensor)
        if image.role != "output" and pack(true, task.dma) != channels:
            raise VerificationError(f"memory image {image.name} holds something beside its tensor")
        if task.dma.below is not None:
            _from_row(tensor, task.dma)[...] = 0
        return tensor if task.dma.at is None else _row(tensor, task.dma)

    def held(self, value: Value, passed: Array) -> Array:
        """What a task that holds `value` on the chip should pass on where it `passed` this, padding included. There is
        no image of it: raises VerificationError where the network has another tensor, by its digest.
        """
        true = crop_array(passed, value.true_shape)
        self._check_value(value, true)
        return pad_array(true, value.shape)

    def _checked(self, image: Image, tensor: Array) -> Array:
        """Without padding. Raises VerificationError where the network has another."""
        joint = image.dma.joint
        true = [crop_array(t, v.true_shape) for t, v in zip(split(tensor, joint), image.values, strict=True)]
        for value, whole in zip(image.values, true, strict=True):
            self._check_value(value, whole)
        return join(true, joint)

    def _check_value(self, value: Value, whole: Array) -> None:
        if value.sources:
            several = 1 if len(value.sources) == len(whole) else 2  # dimensions that tell the tensors apart
            parts = whole.reshape(-1, *whole.shape[several:])
            for part, source in zip(parts, value.sources, strict=True):
                self._check_source(source, part)
        self._check_source(value.source, whole)

    def passed(self, name: str) -> Array:
        """The number that kernels pass for value `name`. Raises VerificationError where the network has another."""
        [value] = [v for v in self.interface.scalars if v.name == name]
        self._check_source(value.source, self.scalars[name])
        return self.scalars[name]

    def _check_source(self, source: str, tensor: Array) -> None:
        if source in self._digests and tensor_digest(tensor) != self._digests[source]:
            raise VerificationError(f"what it is given is not the network's tensor {source}")

    def stored(self, task: StoreTask, written: Array) -> Array:
        """The tensor that the store left. Raises VerificationError where memory holds other bits beside it."""
        image = self._image(task)
        if image.role == "intermediate":
            self._between[image.name] = written
            return written
        channels = self._channels(self.results, image)
        tensor = unpack(channels, task.dma)
        if pack(tensor, task.dma) != channels:
            raise VerificationError(f"it wrote something beside the tensor to {image.name}")
        return tensor if task.dma.at is None else self._stored_row(task, image, tensor)

    def _stored_row(self, task: StoreTask, image: Image, tensor: Array) -> Array:
        """Beside it lies what was there before; in a result, nothing."""
        given = image.is_given
        before = unpack(self._channels(self.design, image), task.dma) if given else np.zeros_like(tensor)
        _row(before, task.dma)[...] = _row(tensor, task.dma)
        if before.tobytes() != tensor.tobytes():
            raise VerificationError(f"it wrote to other rows of {image.name} than the launch says")
        return _row(tensor, task.dma)

    def content(self, image: Image) -> Array:
        """The tensor in `image`, without padding: what the run left, or what it is given."""
        folder = self.results if image.is_made else self.design
        return unpack(self._channels(folder, image), image.dma, image.value.true_shape)

    def given(self, image: Image) -> Array:
        """The tensor that is in `image` before the run, without padding."""
        return unpack(self._channels(self.design, image), image.dma, image.value.true_shape)

    def _image(self, task: LoadTask | StoreTask) -> Image:
        return self.interface.task_ports[task.name][0].image

    def _channels(self, folder: Path, image: Image) -> list[bytes]:
        name = image.result if folder == self.results else image.file
        return [(folder / name(channel)).read_bytes() for channel in range(image.dma.channels)]


def _row(tensor: Array, dma: Dma) -> Array:
    """The row of launches with the largest arguments, as a view."""
    return _from_row(tensor, dma)[0, ...]


def _from_row(tensor: Array, dma: Dma) -> Array:
    """That row and those behind it, as a view with rows in front."""
    assert dma.place is not None
    axis = dma.layout.loops[dma.place.loop].dim
    assert axis is not None
    return np.moveaxis(tensor, axis, 0)[dma.place.argument.most :]
