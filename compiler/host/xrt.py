"""The part of pyxrt that the host program uses. XRT's module offers it for a board, Millrace's for a simulated one.

What an implementation owes, beyond the signatures:
- a buffer has two contents, the host's (`map`) and the device's; only `sync` copies between them;
- a buffer belongs to the memory group that it was made in, and an argument of a kernel accepts its own group only;
- a run keeps its arguments, buffers and 32-bit ints, and may be started again when it ended; `wait` returns its state;
- a device is named by its number or its PCIe address ("0000:3b:00.1");
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
    """Executions of a kernel with the same arguments, one after the other."""

    def set_arg(self, position: int, argument: Buffer | int) -> None:
        """Give the kernel an argument, for all starts from now on."""
        ...

    def start(self) -> None:
        """Begin an execution; the one before must have ended."""
        ...

    def wait(self, timeout_ms: int) -> Any:
        """The state at the end, or after so many milliseconds; 0 waits without end."""
        ...


class Kernel(Protocol):
    """A compute unit of the loaded xclbin."""

    def group_id(self, argument: int) -> int:
        """The memory group that this argument reads or writes."""
        ...


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
    run: Any
    bo: Any
    xclBOSyncDirection: Any  # noqa: N815 # pyxrt's name
    ert_cmd_state: Any


class MissingXrtError(Exception):
    """This machine has no pyxrt."""


# How a command ends that did not complete. Any other state says that it still waits or runs: XRT answers so, or with
# ERT_CMD_STATE_TIMEOUT, after the time given.
_FAILED = ("ERROR", "ABORT", "NORESPONSE", "SKERROR", "SKCRASHED")


class RunError(Exception):
    """A kernel did not complete; the text says which and in which state it ended. `hangs`: not in the time given."""

    def __init__(self, kernel: str, state: Any, states: Any, timeout_ms: int) -> None:
        self.hangs = state not in [getattr(states, f"ERT_CMD_STATE_{name}", None) for name in _FAILED]
        within = f" within {timeout_ms / 1e3:g} s" if self.hangs else ""
        super().__init__(f"kernel {kernel} ended as {state}, not as completed{within}; its results are not used")


def load_pyxrt(module: str = "pyxrt") -> Xrt:
    """XRT's own module, or another one with its interface. Raises MissingXrtError that says how to get it."""
    try:
        return cast(Xrt, importlib.import_module(module))
    except ImportError as error:
        raise MissingXrtError(
            "pyxrt is missing: install XRT and run `source /opt/xilinx/xrt/setup.sh`, then try again"
        ) from error
