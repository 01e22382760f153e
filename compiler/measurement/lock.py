"""One measurement a board: an exclusive lock on a file, named after the board, that every process of a machine sees."""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.measurement.errors import MeasurementError

_POLL_S = 0.2
_SHARED = Path("/run/lock")  # all users of the machine may write there


@dataclass(frozen=True, slots=True)
class BoardLock:
    """A held lock. A process that inherits `descriptor` holds it too, until it ends."""

    bdf: str
    descriptor: int

    def name_holder(self, *processes: int) -> None:
        """Write down who holds it, for those who wait."""
        text = f"pid {', '.join(map(str, processes))} on {socket.gethostname()}"
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text.encode(), 0)


@contextlib.contextmanager
def lock_board(
    bdfs: Sequence[str], wait_s: float, on_line: Callable[[str], None], folder: Path | None = None
) -> Generator[BoardLock]:
    """Hold one of the boards `bdfs`, whichever is free first. Raises MeasurementError after `wait_s` seconds.

    `folder` None: /run/lock, or the folder for temporary files where there is none.
    """
    files = {bdf: _open(_file(bdf, folder)) for bdf in bdfs}
    try:
        lock = _acquire(files, wait_s, on_line)
        lock.name_holder(os.getpid())
        yield lock
    finally:
        for descriptor in files.values():
            os.close(descriptor)


def holder(bdf: str, folder: Path | None = None) -> str:
    """Who held the lock last, as it said itself; "" where nobody ever did."""
    with contextlib.suppress(OSError):
        return _file(bdf, folder).read_text(errors="replace").strip()
    return ""


def _acquire(files: dict[str, int], wait_s: float, on_line: Callable[[str], None]) -> BoardLock:
    deadline, told = time.monotonic() + wait_s, False
    while True:
        for bdf, descriptor in files.items():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return BoardLock(bdf, descriptor)
        if time.monotonic() >= deadline:
            text = f"{_held(files)} after {wait_s:g} s; wait for it to end, or end it"
            raise MeasurementError("device", text)
        if not told:
            on_line(f"wait: {_held(files)}")
            told = True
        time.sleep(_POLL_S)


def _held(files: dict[str, int]) -> str:
    return ", ".join(f"board {bdf} is in use by {_reads(file) or 'another process'}" for bdf, file in files.items())


def _reads(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace").strip()


def _file(bdf: str, folder: Path | None) -> Path:
    if folder is None:
        folder = _SHARED if os.access(_SHARED, os.W_OK) else Path("/tmp")  # whatever temporary folder each user has
    return folder / f"millrace-{bdf.replace('/', '_')}.lock"


def _open(file: Path) -> int:
    try:
        return _open_or_make(file)
    except OSError as error:
        text = f"{file} can not be opened ({error.strerror}): it locks a board; make it readable and writable"
        raise MeasurementError("device", text) from error


def _open_or_make(file: Path) -> int:
    """Another user's file is opened without O_CREAT: the kernel refuses that in a folder which all may write."""
    with contextlib.suppress(FileNotFoundError):
        return os.open(file, os.O_RDWR | os.O_CLOEXEC)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(PermissionError):
        os.fchmod(descriptor, 0o666)  # whatever the umask says
    return descriptor
