"""A board without hardware, by the names of pyxrt (compiler/host/xrt.py says what they owe).

An xclbin is a design directory that `build_board` has built. Kernels compute exactly what the emitted C++ does; the
seconds that they take here say nothing of the board. There are as many HBM pseudo channels, and each holds as much, as
on the design's board; what is allocated stays so until another design is loaded.
"""

import json
import mmap
import os
import weakref
from enum import Enum
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError
from compiler.platforms.stored import platform_of_design
from compiler.simulator.board.build import EXECUTABLE, FOLDER
from compiler.simulator.board.program import Program

_PAGE = 4096


class SyncDirection(Enum):
    """Which copy of a buffer is the newer one."""

    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class CommandState(Enum):
    """How a run stands."""

    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_TIMEOUT = 8


class Xclbin:
    """A built design directory."""

    def __init__(self, path: str) -> None:
        self.design = Path(path)
        if not (self.design / FOLDER / EXECUTABLE).is_file():
            raise InvalidInputError(f"{path} is not built for the simulated board; call build_board first")


class Loaded:
    """What one xclbin makes of the device: memory, the program that runs on it, and the banks of each kernel's
    arguments.
    """

    def __init__(self, xclbin: Xclbin) -> None:
        self.design = xclbin.design
        self.groups = _groups(self.design)
        descriptor = os.memfd_create("device-memory")
        hbm = platform_of_design(self.design).hbm
        self._channel_bytes, size = hbm.channel_bytes, hbm.channels * hbm.channel_bytes
        os.ftruncate(descriptor, size)  # sparse: pages come when they are written
        self.memory = mmap.mmap(descriptor, size)
        self.program = Program(self.design / FOLDER / EXECUTABLE, descriptor, size)
        os.close(descriptor)
        self._used = [0] * hbm.channels

    def allocate(self, size: int, group: int) -> int:
        """The address of `size` new bytes in a channel."""
        pages = -(-size // _PAGE) * _PAGE
        if not 0 <= group < len(self._used) or self._used[group] + pages > self._channel_bytes:
            raise RuntimeError(f"failed to allocate {size} bytes in memory group {group}: Cannot allocate memory")
        address = group * self._channel_bytes + self._used[group]
        self._used[group] += pages
        return address


def _groups(design: Path) -> dict[str, tuple[int, ...]]:
    """The bank of each argument of a design's kernels."""
    manifest = json.loads((design / "params" / "manifest.json").read_text())
    banks = {(i["name"], c): e["hbm"] for i in manifest["images"] for c, e in enumerate(i["channel_images"])}
    return {k["name"]: tuple(banks[b["image"], b["channel"]] for b in k["buffers"]) for k in manifest["kernels"]}


class Device:
    """The board of that number or name; each object is a board of its own."""

    def __init__(self, name: int | str) -> None:
        self.name = name
        self._loaded: Loaded | None = None

    def load_xclbin(self, xclbin: Xclbin) -> Loaded:
        """Program the board. Buffers and kernels of the design before are dead."""
        self.close()
        self._loaded = Loaded(xclbin)
        weakref.finalize(self._loaded, self._loaded.program.close)
        return self._loaded

    @property
    def loaded(self) -> Loaded:
        """Raises RuntimeError where nothing is loaded."""
        if self._loaded is None:
            raise RuntimeError("no xclbin is loaded")
        return self._loaded

    def close(self) -> None:
        """End the program that runs on the board."""
        if self._loaded is not None:
            self._loaded.program.close()
            self._loaded = None


class Buffer:
    """`pyxrt.bo`: device memory in one group, and the host's copy."""

    normal = "normal"

    def __init__(self, device: Device, size: int, _flags: str, group: int) -> None:
        self.group = group
        self.device = device
        self.loaded = device.loaded
        self.address = self.loaded.allocate(size, group)
        self._host = bytearray(size)

    def map(self) -> memoryview:
        """The host's copy."""
        return memoryview(self._host)

    def sync(self, direction: SyncDirection, size: int, offset: int) -> None:
        """Copy between host and device."""
        if self.device.loaded is not self.loaded:
            raise RuntimeError("the buffer belongs to a design that is no longer loaded")
        if size < 0 or offset < 0 or offset + size > len(self._host):
            raise RuntimeError(f"sync of {size} bytes at {offset}; the buffer has {len(self._host)}")
        there = slice(self.address + offset, self.address + offset + size)
        if direction is SyncDirection.XCL_BO_SYNC_BO_TO_DEVICE:
            self.loaded.memory[there] = bytes(self._host[offset : offset + size])
        else:
            self._host[offset : offset + size] = self.loaded.memory[there]


class Kernel:
    """A compute unit of the loaded design."""

    exclusive = "exclusive"

    def __init__(self, device: Device, loaded: Loaded, name: str, _mode: str) -> None:
        if device.loaded is not loaded or name not in loaded.groups:
            raise RuntimeError(f"no kernel {name} in the loaded xclbin")
        self.loaded = loaded
        self.name = name

    def group_id(self, argument: int) -> int:
        """The HBM channel of a buffer argument."""
        return self.loaded.groups[self.name][argument]


class Run:
    """Executions of a kernel with the same arguments."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._words: dict[int, str] = {}
        self._number = 0

    def set_arg(self, position: int, argument: Any) -> None:
        """Raises RuntimeError for what the kernel does not take there."""
        kernel, groups = self._kernel, self._kernel.loaded.groups[self._kernel.name]
        if position >= len(groups):
            if not isinstance(argument, int) or not -(1 << 31) <= argument < 1 << 31:
                raise RuntimeError(f"argument {position} of {kernel.name} is {argument!r}, not a 32-bit int")
            self._words[position] = f"i{argument}"
            return
        if not isinstance(argument, Buffer) or argument.loaded is not kernel.loaded:
            raise RuntimeError(f"argument {position} of {kernel.name} is no buffer of the loaded design")
        if argument.group != groups[position]:
            raise RuntimeError(
                f"argument {position} of {kernel.name} is in memory group {argument.group}, not {groups[position]}"
            )
        self._words[position] = f"m{argument.address}"

    def start(self) -> None:
        """Begin an execution behind those begun before."""
        words = [self._words[position] for position in sorted(self._words)]
        self._number = self._kernel.loaded.program.start(self._kernel.name, words)

    def wait(self, timeout_ms: int = 0) -> CommandState:
        """Raises DeadlockError and the other ends of a C simulation; a board would only time out."""
        ended = self._kernel.loaded.program.ended(self._number, timeout_ms / 1000 if timeout_ms else None)
        return CommandState.ERT_CMD_STATE_COMPLETED if ended else CommandState.ERT_CMD_STATE_TIMEOUT


device = Device
xclbin = Xclbin
kernel = Kernel
run = Run
bo = Buffer
xclBOSyncDirection = SyncDirection  # noqa: N816 # pyxrt's name
ert_cmd_state = CommandState
