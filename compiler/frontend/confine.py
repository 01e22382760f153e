"""What the importer's process takes from itself before it reads anything of an upload: network, programs, files.

Five walls, each where this kernel and user allow it; none needs a privilege. A network namespace of its own, which
holds no device. No capabilities, but for root the one of reading. Landlock: files are read and written below the given
folders only, and no other process is signalled. A seccomp filter, which refuses sockets, new programs and processes,
signals to others, other owners and modes of files, whoever asks, native code included. And an audit hook of Python,
which refuses the same with a readable message and is the only one where the others are missing.
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
_CAPABILITY_VERSION, _DAC_READ_SEARCH = 0x20080522, 1 << 2
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # the x32 numbers name the same calls again
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
_REFUSED = (  # x86-64 numbers
    *(41, 53),  # socket, socketpair
    *(59, 322, 57, 58),  # execve, execveat; fork, vfork
    *(62, 200, 129, 297, 424, 434, 438),  # kill, tkill, rt_sigqueueinfo, rt_tgsigqueueinfo; pidfd_*: other processes
    *(101, 310, 311, 141),  # ptrace; process_vm_readv and writev; setpriority
    *(90, 91, 268, 452, 92, 93, 94, 260),  # chmod and chown, which landlock leaves open
    *(188, 189, 190, 197, 198, 199),  # setxattr, removexattr
    *(29, 64, 68),  # shmget, semget, msgget: they would outlive the process
    *(165, 166, 155, 161, 428, 429, 430, 431, 432, 442),  # mount in its old and new forms, pivot_root, chroot
    *(425, 321, 323, 298, 304),  # io_uring_setup, which opens sockets; bpf, userfaultfd, perf_event_open; handles
    *(248, 249, 250),  # keyrings
    *(272, 308),  # unshare and setns, which could undo a wall
)
_CLONE, _CLONE3, _TGKILL, _PRLIMIT = 56, 435, 234, 302
_REFUSED_EVENTS = ("socket.", "subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "os.fork", "os.kill")
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION = 1
_READS = 1 << 2 | 1 << 3  # a file, a directory
# write a file; remove a directory or file; make a device, directory, file, socket, pipe, block device or link
_WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))
_TRUNCATE = 1 << 14  # from version 3 on
_OF_FILES = 1 << 1 | 1 << 2 | _TRUNCATE
_SCOPES = 0b11  # from version 6 on: no abstract sockets and no signals to the outside
# What Python and the C library open; the interpreter's own folders come with it.
_SYSTEM = ("/usr", "/lib", "/lib64", "/sys", "/dev", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat")
_SETTINGS = ("/proc/sys", "/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/nsswitch.conf")


def confine(writable: Sequence[Path], readable: Sequence[Path] = ()) -> tuple[str, ...]:
    """Raise the walls; the names of those that stand. Call once, before threads exist.

    Files are read below `writable`, `readable` and what the interpreter itself needs.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    walls = [
        name
        for name, stands in (
            ("network namespace", _without_network(libc)),
            ("landlock", _without_files(libc, writable, readable)),
            ("capabilities", _without_capabilities(libc)),
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


def _without_files(libc: ctypes.CDLL, writable: Sequence[Path], readable: Sequence[Path]) -> bool:
    """Landlock: files are written and removed below `writable` only, and read there, below `readable`, and of the
    interpreter.
    """
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    writes = _WRITES | (_TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("QQQ", _READS | writes, 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 8
    rules = libc.syscall(_LANDLOCK_CREATE, ctypes.create_string_buffer(attributes, 24), size, 0)
    if rules < 0:
        return False
    try:
        for path in (*writable, Path("/dev/null")):
            _allow(libc, rules, path, _READS | writes)
        for path in (*readable, *_interpreter()):
            _allow(libc, rules, path, _READS)
        return libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _interpreter() -> list[Path]:
    """What this process reads of the machine: Python, the packages, this compiler, shared libraries."""
    libraries = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    own = (sys.prefix, sys.base_prefix, sys.exec_prefix, Path(__file__).parents[1], *libraries)
    return [Path(path) for path in (*_SYSTEM, *_SETTINGS, *own) if Path(path).exists()]


def _allow(libc: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights &= -1 if path.is_dir() else _OF_FILES
        libc.syscall(_LANDLOCK_ADD, rules, 1, ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor)), 0)
    finally:
        os.close(descriptor)


def _without_capabilities(libc: ctypes.CDLL) -> bool:
    """Give up what root may do, but for reading what others own: an upload may be theirs."""
    header = ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION, 0), 8)
    sets = ctypes.create_string_buffer(24)  # effective, permitted, inheritable; twice
    if libc.capget(header, sets) != 0:
        return False
    kept = struct.unpack_from("I", sets, 4)[0] & _DAC_READ_SEARCH if os.getuid() == 0 else 0
    return libc.capset(header, ctypes.create_string_buffer(struct.pack("6I", kept, kept, 0, 0, 0, 0), 24)) == 0


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

    clone makes threads only; clone3 is as if it did not exist: its flags lie where a filter cannot look, and the C
    library then takes clone. tgkill and prlimit reach this process only.
    """
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    return _assembled(
        [
            (load, 0, 0, 4),
            (equal, 0, "refuse", _AUDIT_ARCH_X86_64),
            (load, 0, 0, 0),
            (at_least, "refuse", 0, _X32),
            *((equal, "refuse", 0, number) for number in _REFUSED),
            (equal, "absent", 0, _CLONE3),
            (equal, "thread", 0, _CLONE),
            (equal, "own", 0, _TGKILL),
            (equal, 0, "allow", _PRLIMIT),
            "own",
            (load, 0, 0, 16),
            (equal, "allow", 0, 0),
            (equal, "allow", "refuse", os.getpid()),
            "thread",
            (load, 0, 0, 16),
            (any_bit, "allow", "refuse", _CLONE_THREAD),
            "absent",
            (give, 0, 0, _ENOSYS),
            "refuse",
            (give, 0, 0, _EPERM),
            "allow",
            (give, 0, 0, _ALLOW),
        ]
    )


def _assembled(lines: Sequence[str | tuple[int, str | int, str | int, int]]) -> bytes:
    """Instructions in binary: a jump to a label, which is a line of its own, becomes the number that it passes over."""
    places: dict[str, int] = {}
    steps: list[tuple[int, str | int, str | int, int]] = []
    for line in lines:
        if isinstance(line, str):
            places[line] = len(steps)
        else:
            steps.append(line)

    def distance(target: str | int, here: int) -> int:
        return places[target] - here - 1 if isinstance(target, str) else target

    return b"".join(
        struct.pack("HBBI", code, distance(yes, here), distance(no, here), operand)
        for here, (code, yes, no, operand) in enumerate(steps)
    )
