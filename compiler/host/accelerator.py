"""A design on a device: its kernels, its buffers, and one run of it."""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design import LOAD, Design, Image, Result
from .packing import NATIVE, pack, unpack
from .xrt import Buffer, Device, Kernel, Run, RunError, Xrt

Array = NDArray[Any]
Tensors = Mapping[str, Array]
TIMEOUT_MS = 600_000


def program(xrt: Xrt, device: Device, xclbin: Path) -> Any:
    """Load `xclbin` onto the board, which ends all that was on it; what accelerators of its designs are made with."""
    return device.load_xclbin(xrt.xclbin(str(xclbin)))


class Accelerator:
    """The kernels of a design, in the xclbin that is `loaded` on `device`, and their buffers, without content.

    The byte `running` is 1 + the position of the kernel that was started last: whoever shares that memory can say which
    one hangs.
    """

    def __init__(self, xrt: Xrt, device: Device, design: Design, loaded: Any) -> None:
        self.design = design
        self.running: bytearray | mmap.mmap = bytearray(1)
        self._xrt = xrt
        self._kernels: list[Kernel] = [xrt.kernel(device, loaded, k.name, xrt.kernel.exclusive) for k in design.kernels]
        groups, bo = self._find_groups(), xrt.bo
        self._buffers: dict[tuple[str, int], Buffer] = {
            (image.name, channel): bo(device, image.channel_bytes, bo.normal, groups[image.name, channel])
            for image in design.images.values()
            for channel in range(image.layout.channels)
        }
        self._scalars: dict[str, int] = {}
        self._runs: list[Run] = []
        self._given: dict[tuple[str, int], bytes] = {}  # digests of what memories are to hold, by image
        self._held: dict[tuple[str, int], bytes] | None = None  # and of what they do, as far as that is known
        self._told_to_load: int | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the memories of the chip hold what they should, so that the next launch need not fill them."""
        return not self.design.memories or self._held == self._given

    def load(self, tensors: Tensors) -> None:
        """Give the device all that kernels read and do not make; `tensors` holds it by the network's names."""
        self._scalars = {s.value: scalar_bits(tensors[s.source], s.dtype) for s in self.design.scalars}
        self._runs = []
        for image in self.design.images.values():
            if image.role not in _MADE:
                self._write(image, tensors)

    def write(self, tensors: Tensors) -> None:
        """Give the device other contents of some of that."""
        for image in self.design.images.values():
            if image.role not in _MADE and tensors.keys() >= set(image.sources):
                self._write(image, tensors)

    def load_files(self) -> None:
        """The same, with the content that the design directory has for it."""
        scalars = (self.design.directory / "params" / "scalars.bin").read_bytes()
        self._scalars = {
            s.value: struct.unpack_from("<i", scalars, 4 * position)[0]
            for position, s in enumerate(self.design.scalars)
        }
        self._runs = []
        for image in self.design.images.values():
            if image.role not in _MADE:
                for channel, file in enumerate(image.files):
                    self._send(image, channel, (self.design.directory / file).read_bytes())

    def start(self, timeout_ms: int = TIMEOUT_MS) -> None:
        """Run the kernels in sequence on what the buffers hold. Raises RunError."""
        if not self._runs:
            self.prepare()
        states = self._xrt.ert_cmd_state
        completed = states.ERT_CMD_STATE_COMPLETED
        self._tell_to_load(0 if self.is_loaded else 1)
        self._held = None  # until they have ended well
        for position, run in enumerate(self._runs):
            self.running[0] = position + 1
            run.start()
            state = run.wait(timeout_ms)
            if state != completed:
                raise RunError(self.design.kernels[position].name, state, states, timeout_ms)
        self._held = dict(self._given)

    def prepare(self) -> None:
        """Give the kernels their arguments, which takes longer than to start them: `start` does it once."""
        self._runs = [self._xrt.run(kernel) for kernel in self._kernels]
        for run, entry in zip(self._runs, self.design.kernels, strict=True):
            arguments = [*(self._buffers[key] for key in entry.channels), *(self._scalars[s] for s in entry.scalars)]
            for position, argument in enumerate(arguments):
                run.set_arg(position, argument)
        self._told_to_load = None
        self.give({})

    def _tell_to_load(self, value: int) -> None:
        """Let the next launch fill memories, or use what they hold."""
        if value == self._told_to_load:
            return
        self._told_to_load = value
        for run, entry in zip(self._runs, self.design.kernels, strict=True):
            if LOAD in entry.arguments:
                run.set_arg(len(entry.channels) + len(entry.scalars) + entry.arguments.index(LOAD), value)

    def give(self, values: Mapping[str, int]) -> None:
        """Arguments of all launches from now on; one that is missing has its largest value. Raises ValueError for one
        that the design does not have, or a value that it can not take.
        """
        most = self.design.arguments
        for name, value in values.items():
            if not 0 <= value <= most.get(name, -1):
                known = ", ".join(f"{known} 0 to {largest}" for known, largest in most.items()) or "none"
                raise ValueError(f"{name}={value} is no argument of {self.design.name}; it takes {known}")
        if not self._runs:
            self.prepare()
        for run, entry in zip(self._runs, self.design.kernels, strict=True):
            first = len(entry.channels) + len(entry.scalars)
            for position, name in enumerate(entry.arguments, first):
                if name != LOAD:
                    run.set_arg(position, values.get(name, most[name]))

    def read(self, result: Result) -> Array:
        """What the device holds of a result of the network, in the network's shape."""
        image = self.design.images[result.image]
        return result.of(unpack(self.content(image), image.layout).reshape(image.shape))

    def content(self, image: Image) -> list[bytes]:
        """What the device holds of `image`, channel by channel."""
        return [self._download(self._buffers[image.name, c], image) for c in range(image.layout.channels)]

    def _write(self, image: Image, tensors: Tensors) -> None:
        for channel, packed in enumerate(pack(image.content(tensors), image.layout)):
            self._send(image, channel, packed)

    def _send(self, image: Image, channel: int, content: bytes) -> None:
        if image.name in self.design.memories:
            self._given[image.name, channel] = hashlib.sha256(content).digest()
        self._upload(self._buffers[image.name, channel], content)

    def _find_groups(self) -> dict[tuple[str, int], int]:
        """The memory group of each channel: that of the first argument which it is passed as."""
        groups: dict[tuple[str, int], int] = {}
        for kernel, entry in zip(self._kernels, self.design.kernels, strict=True):
            for position, key in enumerate(entry.channels):
                groups.setdefault(key, kernel.group_id(position))
        return groups

    def _upload(self, buffer: Buffer, content: bytes) -> None:
        buffer.map()[: len(content)] = content
        buffer.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, len(content), 0)

    def _download(self, buffer: Buffer, image: Image) -> bytes:
        buffer.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE, image.channel_bytes, 0)
        return bytes(buffer.map()[: image.channel_bytes])


_MADE = ("output", "intermediate")  # images that kernels fill


def scalar_bits(number: Array, dtype: str) -> int:
    """The 32 bits of a scalar as an int: pyxrt's runs take no arguments but buffers and ints."""
    return int(struct.unpack("<i", np.asarray(number, NATIVE[dtype]).tobytes())[0])
