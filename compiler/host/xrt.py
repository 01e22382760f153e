"""The part of pyxrt that the host program uses. XRT's module offers it for a board, Millrace's for a simulated one.

What an implementation owes, beyond the signatures:
- a buffer has two contents, the host's (`map`) and the device's; only `sync` copies between them;
- a buffer belongs to the memory group that it was made in, and an argument of a kernel accepts its own group only;
- calling a kernel starts a run, `wait` returns when it ended, with its state; arguments are buffers and 32-bit ints;
- loading an xclbin ends the life of all buffers and kernels of the one before.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast


class Buffer(Protocol):
    """Memory of the device with a copy on the host."""

    def map(self) -> memoryview:
        """The host's copy, writable, as bytes."""
        ...

    def sync(self, direction: Any, size: int, offset: int) -> None:
        """Copy `size` bytes from `offset` on, to the device or from it."""
        ...


class Run(Protocol):
    """One execution of a kernel."""

    def wait(self, timeout_ms: int) -> Any:
        """The state at the end, or after so many milliseconds; 0 waits without end."""
        ...


class Kernel(Protocol):
    """A compute unit of the loaded xclbin."""

    def group_id(self, argument: int) -> int:
        """The memory group that this argument reads or writes."""
        ...

    def __call__(self, *arguments: Buffer | int) -> Run: ...


class Device(Protocol):
    """A board."""

    def load_xclbin(self, xclbin: Any, /) -> Any:
        """Program the board; the identity of what is loaded."""
        ...


class Xrt(Protocol):
    """The module: its classes by the names that pyxrt gives them."""

    device: Any
    xclbin: Any
    kernel: Any
    bo: Any
    xclBOSyncDirection: Any  # noqa: N815 # pyxrt's name
    ert_cmd_state: Any


class MissingXrtError(Exception):
    """This machine has no pyxrt."""


class RunError(Exception):
    """A kernel did not complete; the text says which and in which state it ended."""


def load_pyxrt() -> Xrt:
    """XRT's own module. Raises MissingXrtError that says how to get it."""
    try:
        return cast(Xrt, importlib.import_module("pyxrt"))
    except ImportError as error:
        raise MissingXrtError(
            "pyxrt is missing: install XRT and run `source /opt/xilinx/xrt/setup.sh`, then try again"
        ) from error
