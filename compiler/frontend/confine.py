"""What the importer's process takes from itself before it reads anything of an upload: network, programs, files.

Four walls, each where this kernel and user allow it; none needs a privilege. A network namespace of its own, which
holds no device. Landlock: files are written below the given folders only. A seccomp filter, which refuses sockets, new
programs and new processes whoever asks, native code included. And an audit hook of Python, which refuses the same with
a readable message and is the only one where the others are missing.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_THREAD = 0x10000000, 0x40000000, 0x10000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # the x32 numbers name the same calls again
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
# x86-64 numbers: socket, socketpair; execve, execveat; fork, vfork; ptrace; mount, umount2, pivot_root; io_uring_setup,
# which opens sockets without the call; process_vm_readv and writev; bpf; unshare and setns, which could undo a wall.
_REFUSED = (41, 53, 59, 322, 57, 58, 101, 165, 166, 155, 425, 310, 311, 321, 272, 308)
_CLONE, _CLONE3 = 56, 435
_REFUSED_EVENTS = ("socket.", "subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "os.fork")
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
# write a file; remove a directory or file; make a device, directory, file, socket, pipe, block device or link
_WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))


def confine(writable: Sequence[Path]) -> tuple[str, ...]:
    """Raise the walls; the names of those that stand. Call once, before threads exist."""
    libc = ctypes.CDLL(None, use_errno=True)
    walls = [
        name
        for name, stands in (
            ("network namespace", _without_network(libc)),
            ("landlock", _without_writing(libc, writable)),
            ("seccomp", _filter_calls(libc)),
        )
        if stands
    ]
    sys.addaudithook(_refuse)
    return (*walls, "audit hook")


def _refuse(event: str, _arguments: Any) -> None:
    if event.startswith(_REFUSED_EVENTS):
        raise PermissionError(f"{event} is refused: a model is imported without network and without other programs")


def _without_network(libc: ctypes.CDLL) -> bool:
    """Move to an empty network namespace; a user without the right makes a user namespace with it."""
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWNET) == 0:
        return True
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    with suppress(OSError):  # unmapped ids work too: files are still opened with the real ones
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def _without_writing(libc: ctypes.CDLL, writable: Sequence[Path]) -> bool:
    """Landlock: nothing is written or removed but below `writable` and in /dev, where /dev/null is."""
    attributes = ctypes.create_string_buffer(struct.pack("Q", _WRITES), 8)
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, 8, 0)
    if rules < 0:
        return False
    try:
        for folder in (*writable, Path("/dev")):
            _allow(libc, rules, folder)
        return libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, folder: Path) -> None:
    descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        libc.syscall(_LANDLOCK_ADD, rules, 1, ctypes.create_string_buffer(struct.pack("=Qi", _WRITES, descriptor)), 0)
    finally:
        os.close(descriptor)


def _filter_calls(libc: ctypes.CDLL) -> bool:
    """A seccomp filter: the calls of `_REFUSED` fail with EPERM, and so does every call of another architecture."""
    if os.uname().machine != "x86_64":
        return False
    program = _program()
    instructions = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions)))
    return (
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        and libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0
    )


def _program() -> bytes:
    """Classic BPF over `struct seccomp_data`: number at 0, architecture at 4, first argument at 16.

    A jump counts the instructions that it passes over. clone makes threads only, clone3 is as if it did not exist:
    its flags lie where a filter cannot look, and the C library then takes clone.
    """
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    count = len(_REFUSED)
    steps = [
        (load, 0, 0, 4),
        (equal, 0, count + 7, _AUDIT_ARCH_X86_64),
        (load, 0, 0, 0),
        (at_least, count + 5, 0, _X32),
        *((equal, count + 4 - i, 0, number) for i, number in enumerate(_REFUSED)),
        (equal, 5, 0, _CLONE3),
        (equal, 0, 2, _CLONE),
        (load, 0, 0, 16),
        (any_bit, 0, 1, _CLONE_THREAD),
        (give, 0, 0, _ALLOW),
        (give, 0, 0, _EPERM),
        (give, 0, 0, _ENOSYS),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
