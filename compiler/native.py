"""Our own C++, compiled with g++ once: where its sources are, or else in a folder of this user."""

import hashlib
import os
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compiler.errors import ToolError
from compiler.process import Limits, run_process

_BUILT = "_build"
_BUILD_SECONDS = 300
_OLD_SECONDS = 86_400  # after which nobody links what another compiler, or another release, has made
_SHARED = Path("/tmp")  # not the temporary folder of this process, which may end with it


def built(source: Path, product: str, flags: Sequence[str], compiler: str = "g++") -> Path:
    """`product` (core.so, runtime.o) of `source` and the files beside and below it, made by `compiler` with `flags`.

    It is made again when one of those changes. Raises ToolError where there is no compiler, and with what it says.
    """
    digest = hashlib.sha256(" ".join((compiler, *flags, platform.machine())).encode())
    for file in sorted(path for path in source.parent.rglob("*") if path.is_file() and path.parent.name != _BUILT):
        digest.update(file.read_bytes())
    stem, suffix = product.split(".")
    name = f"{stem}-{digest.hexdigest()[:16]}.{suffix}"
    command = [compiler, *flags, str(source), "-o"]
    beside = source.parents[1] / _BUILT
    if (beside / name).exists():  # whoever made it: it is trusted as the sources beside it are
        return beside / name
    folder = own_folder(source)
    if folder is None:
        return _compile(command, Path(tempfile.mkdtemp(prefix=f"millrace-{stem}-")) / name)
    made = folder / name
    return made if made.exists() else _compiled_into(made, command, f"{stem}-*.{suffix}")


def own_folder(source: Path) -> Path | None:
    """Where this user keeps what is compiled of `source`, and trusts what lies there; None where nowhere."""
    places = (source.parents[1] / _BUILT, _SHARED / f"millrace-{os.getuid()}")
    return next((folder for folder in places if _is_ours(folder)), None)


def find_compiler(name: str) -> str:
    """Where the compiler is; raises ToolError that says how to install it."""
    path = shutil.which(name)
    if path is None:
        raise ToolError(
            f"{name} was not found; designs are estimated and simulated with it. Install it with "
            "`apt-get install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora, RHEL) or `apk add g++` (Alpine)"
        )
    return path


def _is_ours(folder: Path) -> bool:
    """Whether what is in `folder`, which is made here if need be, is this user's to write and to trust."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    known = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    return known and os.access(folder, os.W_OK)


def _compiled_into(target: Path, command: Sequence[str], earlier: str) -> Path:
    """The file whole or not at all, whoever else compiles it; those of earlier sources go when nobody links them."""
    scratch = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        _compile(command, scratch / target.name).replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for old in target.parent.glob(earlier):
        with suppress(FileNotFoundError):  # somebody else was faster
            if old != target and time.time() - old.stat().st_mtime > _OLD_SECONDS:
                old.unlink()
    return target


def _compile(command: Sequence[str], target: Path) -> Path:
    compiler = find_compiler(command[0])
    finished = run_process([compiler, *command[1:], str(target)], target.parent, Limits(_BUILD_SECONDS))
    if finished.returncode != 0:
        source = Path(command[-2]).name
        raise ToolError(f"{source} does not compile:\n{finished.stderr[-4000:]}")
    target.chmod(0o755)
    return target
