"""A design on a device: its kernels, its buffers, and one run of it."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design import Design, Image, Result
from .packing import NATIVE, pack, unpack
from .xrt import Buffer, Device, Kernel, Run, RunError, Xrt

Array = NDArray[Any]
Tensors = Mapping[str, Array]
BLOCK = "h0."
TIMEOUT_MS = 600_000


class Layer:
    """What a network has on the device: the buffers of its parameters and caches, the bits of its scalars, and a run of
    each kernel on them, made when they are first needed.
    """

    def __init__(self) -> None:
        self.scalars: dict[str, int] = {}
        self.buffers: dict[tuple[str, int], Buffer] = {}
        self.runs: list[Run] = []


def program(xrt: Xrt, device: Device, xclbin: Path) -> Any:
    """Load `xclbin` onto the board, which ends all that was on it; what accelerators of its designs are made with."""
    return device.load_xclbin(xrt.xclbin(str(xclbin)))


class Accelerator:
    """Kernels of a design, one of those in the xclbin that is `loaded` on `device`.

    The byte `running` is 1 + the position of the kernel that was started last: whoever shares that memory can say which
    one hangs.
    """

    def __init__(self, xrt: Xrt, device: Device, design: Design, loaded: Any) -> None:
        self.design = design
        self.running: bytearray | mmap.mmap = bytearray(1)
        self._xrt = xrt
        self._device = device
        self._kernels: list[Kernel] = [xrt.kernel(device, loaded, k.name, xrt.kernel.exclusive) for k in design.kernels]
        self._groups = self._find_groups()
        self._shared: dict[tuple[str, int], Buffer] = {}
        self._allocate(self._shared, [i for i in design.images.values() if not is_own(i)])

    def add_layer(self) -> Layer:
        """Buffers for one more layer, without content."""
        layer = Layer()
        self._allocate(layer.buffers, [image for image in self.design.images.values() if is_own(image)])
        return layer

    def load(self, layer: Layer, tensors: Tensors) -> None:
        """Give a layer its parameters and caches. `tensors` holds them by the names of the first layer."""
        layer.scalars = {s.value: scalar_bits(tensors[s.source], s.dtype) for s in self.design.scalars}
        layer.runs = []
        for image in self.design.images.values():
            if is_own(image):
                self._fill(layer.buffers, image, tensors)

    def run(self, layer: Layer, inputs: Tensors) -> dict[str, Array]:
        """The results by name. `inputs` holds each tensor that belongs to no layer. Raises RunError."""
        for image in self.design.images.values():
            if image.role == "input" and not is_own(image):
                self._fill(self._shared, image, inputs)
        self.start(layer)
        return {result.name: self.read(layer, result) for result in self.design.results}

    def start(self, layer: Layer, timeout_ms: int = TIMEOUT_MS) -> None:
        """Run the kernels in sequence on what the buffers hold. Raises RunError."""
        if not layer.runs:
            self.prepare(layer)
        states = self._xrt.ert_cmd_state
        completed = states.ERT_CMD_STATE_COMPLETED
        for position, run in enumerate(layer.runs):
            self.running[0] = position + 1
            run.start()
            state = run.wait(timeout_ms)
            if state != completed:
                raise RunError(self.design.kernels[position].name, state, states, timeout_ms)

    def prepare(self, layer: Layer) -> None:
        """Give the kernels their arguments, which takes longer than to start them: `start` does it once a layer."""
        buffers = {**self._shared, **layer.buffers}
        layer.runs = [self._xrt.run(kernel) for kernel in self._kernels]
        for run, entry in zip(layer.runs, self.design.kernels, strict=True):
            arguments = [*(buffers[key] for key in entry.channels), *(layer.scalars[s] for s in entry.scalars)]
            for position, argument in enumerate(arguments):
                run.set_arg(position, argument)
        self.give(layer, {})

    def give(self, layer: Layer, values: Mapping[str, int]) -> None:
        """Arguments of the layer's launches from now on; one that is missing has its largest value. Raises ValueError
        for one that the design does not have, or a value that it can not take.
        """
        most = self.design.arguments
        for name, value in values.items():
            if not 0 <= value <= most.get(name, -1):
                known = ", ".join(f"{known} 0 to {largest}" for known, largest in most.items()) or "none"
                raise ValueError(f"{name}={value} is no argument of {self.design.name}; it takes {known}")
        if not layer.runs:
            self.prepare(layer)
        for run, entry in zip(layer.runs, self.design.kernels, strict=True):
            first = len(entry.channels) + len(entry.scalars)
            for position, name in enumerate(entry.arguments, first):
                run.set_arg(position, values.get(name, most[name]))

    def read(self, layer: Layer, result: Result) -> Array:
        """What the device holds of a result of the network, in the network's shape."""
        image = self.design.images[result.image]
        return result.of(unpack(self.content(layer, image), image.layout).reshape(image.shape))

    def content(self, layer: Layer, image: Image) -> list[bytes]:
        """What the device holds of `image`, channel by channel."""
        buffers = layer.buffers if is_own(image) else self._shared
        return [self._download(buffers[image.name, c], image) for c in range(image.layout.channels)]

    def load_files(self, layer: Layer) -> None:
        """Give every parameter, input and scalar the content that the design directory has for it."""
        scalars = (self.design.directory / "params" / "scalars.bin").read_bytes()
        layer.scalars = {
            s.value: struct.unpack_from("<i", scalars, 4 * position)[0]
            for position, s in enumerate(self.design.scalars)
        }
        layer.runs = []
        for image in self.design.images.values():
            if image.role not in ("param", "input", "kept"):
                continue
            buffers = layer.buffers if is_own(image) else self._shared
            for channel, file in enumerate(image.files):
                self._upload(buffers[image.name, channel], (self.design.directory / file).read_bytes())

    def _find_groups(self) -> dict[tuple[str, int], int]:
        """The memory group of each channel: that of the first argument which it is passed as."""
        groups: dict[tuple[str, int], int] = {}
        for kernel, entry in zip(self._kernels, self.design.kernels, strict=True):
            for position, key in enumerate(entry.channels):
                groups.setdefault(key, kernel.group_id(position))
        return groups

    def _allocate(self, buffers: dict[tuple[str, int], Buffer], images: list[Image]) -> None:
        for image in images:
            for channel in range(image.layout.channels):
                key = (image.name, channel)
                bo = self._xrt.bo
                buffers[key] = bo(self._device, image.channel_bytes, bo.normal, self._groups[key])

    def _fill(self, buffers: Mapping[tuple[str, int], Buffer], image: Image, tensors: Tensors) -> None:
        for channel, packed in enumerate(pack(image.content(tensors), image.layout)):
            self._upload(buffers[image.name, channel], packed)

    def _upload(self, buffer: Buffer, content: bytes) -> None:
        buffer.map()[: len(content)] = content
        buffer.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, len(content), 0)

    def _download(self, buffer: Buffer, image: Image) -> bytes:
        buffer.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE, image.channel_bytes, 0)
        return bytes(buffer.map()[: image.channel_bytes])


def is_own(image: Image) -> bool:
    """Whether it holds parameters or caches."""
    return bool(image.sources) and (image.role == "param" or image.sources[0].startswith(BLOCK))


def scalar_bits(number: Array, dtype: str) -> int:
    """The 32 bits of a scalar as an int: pyxrt's runs take no arguments but buffers and ints."""
    return int(struct.unpack("<i", np.asarray(number, NATIVE[dtype]).tobytes())[0])
