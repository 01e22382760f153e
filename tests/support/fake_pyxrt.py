"""pyxrt's interface over the interpreter: each design is computed in numpy when its last kernel runs.

An xclbin is a file in a design directory. Strict where XRT is: contents move by `sync` only, an argument takes buffers
of its own memory group only, and loading an xclbin ends what the one before had.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from compiler.frontend.graph_json import graph_from_json
from compiler.frontend.interpret import NUMPY_DTYPE, interpret
from compiler.host.design import Design, load_design
from compiler.host.packing import pack, unpack


class xclBOSyncDirection:  # noqa: N801 # pyxrt's names
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state:  # noqa: N801
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5


class xclbin:  # noqa: N801
    def __init__(self, path: str) -> None:
        self.directory = Path(path).parent


class Loaded:
    """A design, its network, and what was passed to its kernels since the last result."""

    def __init__(self, directory: Path) -> None:
        self.design: Design = load_design(directory)
        self.graph = graph_from_json(json.loads((directory / "tb" / "graph.json").read_text()))
        self.memory: dict[tuple[str, int], bytearray] = {}
        self.scalars: dict[str, int] = {}

    def group(self, name: str, argument: int) -> int:
        """One for each channel of each image."""
        kernel = next(k for k in self.design.kernels if k.name == name)
        return sorted({c for k in self.design.kernels for c in k.channels}).index(kernel.channels[argument])

    def compute(self) -> None:
        images = self.design.images.values()
        tensors: dict[str, Any] = {}
        for image in images:
            if image.role in ("param", "input"):
                channels = [bytes(self.memory[image.name, c]) for c in range(image.layout.channels)]
                tensors[str(image.source)] = unpack(channels, image.layout)
        for scalar in self.design.scalars:
            dtype = NUMPY_DTYPE[scalar.dtype]
            tensors[scalar.source] = np.frombuffer(struct.pack("<i", self.scalars[scalar.value]), dtype).reshape(())
        values = interpret(self.graph, tensors)
        for image in images:
            if image.role == "output":
                for c, content in enumerate(pack(values[image.value].reshape(image.shape), image.layout)):
                    self.memory[image.name, c][:] = content


class device:  # noqa: N801
    def __init__(self, _index: int) -> None:
        self.loaded: Loaded | None = None

    def load_xclbin(self, binary: xclbin) -> Loaded:
        self.loaded = Loaded(binary.directory)
        return self.loaded


class bo:  # noqa: N801
    normal = 0

    def __init__(self, board: device, size: int, _flags: int, group: int) -> None:
        self.board, self.loaded, self.group = board, board.loaded, group
        self.host, self.content = bytearray(size), bytearray(size)

    def map(self) -> memoryview:
        return memoryview(self.host)

    def sync(self, direction: int, size: int, offset: int) -> None:
        if self.board.loaded is not self.loaded or offset + size > len(self.host):
            raise RuntimeError("the buffer's design is not loaded, or it is smaller")
        there, here = (self.content, self.host) if direction == 0 else (self.host, self.content)
        there[offset : offset + size] = here[offset : offset + size]


class Run:
    def __init__(self, state: int) -> None:
        self.state = state

    def wait(self, _timeout_ms: int = 0) -> int:
        return self.state


class kernel:  # noqa: N801
    exclusive = 0
    state = ert_cmd_state.ERT_CMD_STATE_COMPLETED

    def __init__(self, _board: device, loaded: Loaded, name: str, _mode: int) -> None:
        self.loaded, self.name = loaded, name
        self.entry = next(k for k in loaded.design.kernels if k.name == name)

    def group_id(self, argument: int) -> int:
        return self.loaded.group(self.name, argument)

    def __call__(self, *arguments: Any) -> Run:
        buffers, scalars = arguments[: len(self.entry.channels)], arguments[len(self.entry.channels) :]
        for position, (key, buffer) in enumerate(zip(self.entry.channels, buffers, strict=True)):
            if buffer.loaded is not self.loaded or buffer.group != self.group_id(position):
                raise RuntimeError(f"argument {position} of {self.name} is in another memory group")
            self.loaded.memory[key] = buffer.content
        # The real one swallows what is neither a buffer nor an int, and leaves the argument unset.
        assert all(isinstance(s, int) for s in scalars)
        self.loaded.scalars |= dict(zip(self.entry.scalars, scalars, strict=True))
        if self.name == self.loaded.design.kernels[-1].name:
            self.loaded.compute()
        return Run(self.state)
