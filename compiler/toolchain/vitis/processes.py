"""All processes of one run, found by a mark in their environment.

Vivado and its Java helpers start sessions of their own and outlive their parents, so neither a process group nor the
tree of parents holds them all; the environment is inherited by whatever they fork.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KILL_S = 10.0
_AGAIN_S = 0.02


def marked(mark: str) -> list[int]:
    """PIDs of the living processes that have the variable `mark` ("NAME=value") in their environment."""
    wanted = mark.encode()
    return [pid for pid in _pids() if wanted in _environment(pid)]


def memory_bytes(pids: list[int]) -> int:
    """What the processes hold for themselves: resident memory without what is shared or comes from files."""
    return sum(_own_bytes(pid) for pid in pids)


def kill_marked(mark: str) -> bool:
    """SIGKILL to every marked process, again until none is left; False where one survives (it waits for a device)."""
    deadline = time.monotonic() + _KILL_S
    while pids := marked(mark):
        for pid in pids:
            _kill(pid)
        if time.monotonic() > deadline:
            return False
        time.sleep(_AGAIN_S)
    return True


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _pids() -> Iterator[int]:
    own = os.getpid()
    return (int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdigit() and int(entry.name) != own)


def _environment(pid: int) -> frozenset[bytes]:
    """Empty for the process of another user, for one that ended (a zombie, too)."""
    try:
        return frozenset((_PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:
        return frozenset()


def _own_bytes(pid: int) -> int:
    try:
        _, resident, shared, *_ = (_PROC / str(pid) / "statm").read_text().split()
    except (OSError, ValueError):
        return 0
    return max(0, int(resident) - int(shared)) * _PAGE
