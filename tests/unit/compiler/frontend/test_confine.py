"""The walls around the importer, each tried from inside, in native code too."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

INSIDE = """
import ctypes, errno, os, socket, subprocess, sys, threading
from pathlib import Path
from compiler.frontend.confine import confine
mine, other = Path(sys.argv[1]), Path(sys.argv[2])
victim = other / "victim"
victim.write_text("x")
walls = confine([mine])
libc = ctypes.CDLL(None, use_errno=True)

def refused(what):
    try:
        what()
    except PermissionError:
        return True
    return False

def native(name, *arguments):
    return getattr(libc, name)(*arguments) == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES)
"""


def run(tmp_path: Path, body: str) -> None:
    folders = [tmp_path / "mine", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    script = INSIDE + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, folders)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_which_walls_stand_is_said(tmp_path: Path) -> None:
    run(tmp_path, "assert walls[-1] == 'audit hook', walls")


def test_python_is_refused_with_a_sentence(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        assert refused(socket.socket)
        assert refused(lambda: socket.getaddrinfo("localhost", 80))
        assert refused(lambda: subprocess.run(["true"]))
        assert refused(lambda: os.system("true"))
        assert refused(os.fork)
        """,
    )


@pytest.mark.parametrize(
    ("wall", "body"),
    [
        ("seccomp", "assert native('socket', 2, 1, 0)"),
        ("seccomp", "assert native('execl', b'/bin/true', b'true', None)"),
        ("seccomp", "assert native('fork')"),
        ("seccomp", "assert native('unshare', 0x10000000)"),
        ("network namespace", "assert Path('/proc/self/net/dev').read_text().count(':') <= 1"),
        ("seccomp", "assert native('kill', os.getppid(), 0)"),
        ("seccomp", "assert native('tgkill', os.getppid(), os.getppid(), 0)"),
        ("seccomp", "assert native('prlimit', os.getppid(), 7, None, ctypes.create_string_buffer(16))"),
        ("seccomp", "assert native('chmod', str(other).encode(), 0o700)"),
        ("seccomp", "assert native('setxattr', str(other).encode(), b'user.x', b'1', 1, 0)"),
        ("seccomp", "assert native('shmget', 0, 4096, 0o1600)"),
        ("capabilities", "assert native('sethostname', b'x', 1)"),
        ("landlock", "assert native('truncate', str(victim).encode(), 0)"),
        ("landlock", "assert native('open', str(victim).encode(), os.O_RDONLY | os.O_TRUNC)"),
        ("landlock", "assert refused(victim.read_text)"),
        ("landlock", "assert refused(lambda: Path(f'/proc/{os.getppid()}/environ').read_bytes())"),
        ("landlock", "assert refused(lambda: (other / 'x').write_text('x'))"),
        ("landlock", "assert refused(lambda: other.rmdir())"),
        ("landlock", "assert native('open', str(other / 'x').encode(), os.O_CREAT | os.O_WRONLY, 0o600)"),
    ],
)
def test_native_code_is_refused(tmp_path: Path, wall: str, body: str) -> None:
    """Where the kernel has no such wall there is nothing to try."""
    run(tmp_path, f"if {wall!r} in walls:\n    {body}")


def test_only_what_is_named_is_read(tmp_path: Path) -> None:
    """A named file is readable, also through a link as hubs make them; what lies beside it is not."""
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "blob").write_text("weights")
    (folder / "beside").write_text("secret")
    (folder / "link").symlink_to("blob")
    script = f"""
from pathlib import Path
from compiler.frontend.confine import confine
given = Path({str(folder)!r})
walls = confine([], [given / "link"])
assert (given / "link").read_text() == "weights"
try:
    (given / "beside").read_text()
except PermissionError:
    raise SystemExit
assert "landlock" not in walls
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_what_an_importer_needs_still_works(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        os.ftruncate(os.open(mine / "t", os.O_CREAT | os.O_WRONLY, 0o600), 8)
        Path("/dev/null").write_text("x")
        assert libc.tgkill(os.getpid(), threading.get_native_id(), 0) == 0
        (mine / "a").write_text("x")
        (mine / "a").rename(mine / "b")
        assert Path(__import__("numpy").__file__).read_text()
        threads = [threading.Thread(target=lambda: None) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        """,
    )
