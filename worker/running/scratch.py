"""Scratch folders of builds. They go with the build, whichever way it ends: the executor removes its own, the worker
that of an executor that was killed, and other workers of this home those of a worker that was killed.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from worker.settings import Settings

_LOCK = ".lock"
_TMPDIR = "TMPDIR"


class Scratch:
    """The folder of this worker, whose lock it holds as long as it lives; in it one folder a build."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.run_dir / "scratch"
        self._root.mkdir(parents=True, exist_ok=True)
        self._folder = self._root / uuid4().hex
        self._lock = _taken(self._lock_of(self._folder))  # before the folder is there: one without belongs to nobody
        self._folder.mkdir()

    def of(self, build_id: str, token: int) -> Path:
        """Where a run of a build may write; nothing is there yet."""
        return self._folder / f"{build_id}-{token}"

    def sweep(self) -> None:
        """Remove what workers that were killed have left."""
        for folder in self._root.iterdir():
            if folder.name.endswith(_LOCK):
                _drop_if_free(folder)
            elif not self._lock_of(folder).exists():
                remove_tree(folder)

    def close(self) -> None:
        """Remove the folder and give up its lock."""
        remove_tree(self._folder)
        self._lock_of(self._folder).unlink(missing_ok=True)
        os.close(self._lock)

    @staticmethod
    def _lock_of(folder: Path) -> Path:
        return folder.with_name(folder.name + _LOCK)


@contextmanager
def scratch_folder(folder: Path) -> Generator[Path]:
    """An empty folder in `folder`, beside which temporary files go; all of it is removed at the end."""
    work = folder / "work"
    folder.mkdir(parents=True)
    work.mkdir()
    before = tempfile.tempdir, os.environ.get(_TMPDIR)
    tempfile.tempdir = os.environ[_TMPDIR] = str(folder)  # the second is for what it starts
    try:
        yield work
    finally:
        tempfile.tempdir = before[0]
        os.environ.pop(_TMPDIR) if before[1] is None else os.environ.update({_TMPDIR: before[1]})
        remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove the folder with all below it, what may not be read or changed included; fine where there is none."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    with suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        for parent, names, _ in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(parent, name), stat.S_IRWXU)  # noqa: PTH101, PTH118  # before it is walked into
    shutil.rmtree(folder, ignore_errors=True)


def _drop_if_free(lock: Path) -> None:
    """Remove a lock that nobody holds, with its folder."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(lock.with_name(lock.name.removesuffix(_LOCK)))
        lock.unlink(missing_ok=True)
    except BlockingIOError:
        return  # its worker lives
    finally:
        os.close(descriptor)


def _taken(lock: Path) -> int:
    """A descriptor that holds the lock."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == lock.stat().st_ino:
                return descriptor
        os.close(descriptor)  # somebody took it for one that was left
