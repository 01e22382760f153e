"""An executor's own /dev/shm and System V memory, where it may have them: what builds leave there is known to be
theirs, and is gone with the process at the latest.
"""

import ctypes
import os
import shutil
from contextlib import suppress
from pathlib import Path

_SHM = Path("/dev/shm")
_SEGMENTS = Path("/proc/sysvipc/shm")
_CAP_SYS_ADMIN = 21
_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_SLAVE = 1 << 1, 1 << 2, 1 << 14, 1 << 19


def may_take_private() -> bool:
    """Whether `take_private` will do, as far as capabilities tell."""
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return bool(effective >> _CAP_SYS_ADMIN & 1)


def take_private() -> bool:
    """Give this process, and all that it will start, memory to share that no others see; False where it may not.

    It needs CAP_SYS_ADMIN. What is mounted elsewhere later is seen here too.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS | _CLONE_NEWIPC) != 0:
        return False
    if libc.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None) != 0:
        return False
    return libc.mount(b"tmpfs", os.fsencode(_SHM), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=1777,size=100%") == 0


def clear_private() -> str | None:
    """Remove what a build has left in the memory that is ours alone; why this process has to end for that."""
    for entry in _SHM.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    with _SEGMENTS.open() as lines:
        return "the job left shared memory behind" if sum(1 for _ in lines) > 1 else None


def private_shm_bytes(pid: int) -> int:
    """Bytes in the /dev/shm of the process, where that is not the one that this process sees."""
    theirs = Path(f"/proc/{pid}/root{_SHM}")
    with suppress(OSError):  # it has ended, or is another user's
        if theirs.stat().st_dev != _SHM.stat().st_dev:
            usage = os.statvfs(theirs)
            return (usage.f_blocks - usage.f_bfree) * usage.f_frsize
    return 0
