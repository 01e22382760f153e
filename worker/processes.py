"""Linux processes: children that die with their parent, process identity, who holds a port."""

import ctypes
import os
import signal
import socket
import sys
import threading
from pathlib import Path

import psutil

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process `signal_number` when the thread that started it ends. Survives exec."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def die_with(parent: int) -> None:
    """Like `die_with_parent`, for a process that `parent` started; exits if the parent is gone already."""
    die_with_parent()
    if os.getppid() != parent:
        sys.exit(f"the parent process {parent} ended before this one was up")


def identity() -> str:
    """Names this process for good: machine, PID and its time of start."""
    return f"{_machine()}/{os.getpid()}/{start_of(os.getpid())}"


def slot_identity() -> str:
    """Names the thread that calls, beside its process."""
    return f"{identity()}#{threading.get_native_id()}"


def is_dead(owner: str) -> bool:
    """True when `owner`, an `identity()` or `slot_identity()`, is of a process of this machine that has ended; False
    when in doubt.
    """
    machine, _, started = owner.partition("#")[0].rpartition("/")
    machine, _, pid = machine.rpartition("/")
    return machine == _machine() and pid.isdigit() and not is_running(int(pid), started)


def _machine() -> str:
    # Two containers may share a host name and reuse PIDs: boot and PID namespace tell them apart.
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"


def is_running(pid: int, started: str) -> bool:
    """Whether the process that had this PID from its `start_of` on has not ended."""
    return start_of(pid) == started


def start_of(pid: int) -> str | None:
    """When the process started, in clock ticks since boot (which setting the clock does not change)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def port_holder(port: int) -> str:
    """Who listens on TCP `port`, in words; vague when that process belongs to another user."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            return _describe(connection.pid)
    return "another process"


def _describe(pid: int | None) -> str:
    if pid is None:
        return "a process of another user"
    try:
        command = " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        command = "?"
    return f"process {pid} ({command[:100]})"
