"""Folders that are made once, however many processes want them at the same time; each has the time of its last use."""

import fcntl
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from compiler.errors import ToolError


def make_once(cache: Path, key: str, make: Callable[[Path], None]) -> Path:
    """The folder `cache`/`key`, made by `make` where it is not there; what lies there is always whole.

    `make` is given an empty folder beside it. Raises ToolError where the disk is full or not writable.
    """
    final, building = cache / key, cache / f".{key}.building"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f".{key}.lock"):
            if final.is_dir():
                os.utime(final)
                return final
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir()
            try:
                make(building)
                building.rename(final)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        raise ToolError(f"cannot write to the cache: {error.strerror}; free space or choose another folder") from error
    return final


def drop_unused(cache: Path, key: str, since: float) -> bool:
    """Remove the folder unless it was used after `since`, in seconds of the epoch; whether it is gone by that."""
    final, going = cache / key, cache / f".{key}.building"
    with locked(cache / f".{key}.lock"):
        if not final.is_dir() or final.stat().st_mtime > since:
            return False
        shutil.rmtree(going, ignore_errors=True)
        final.rename(going)  # at once: what lies there is always whole
        shutil.rmtree(going, ignore_errors=True)
    return True


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the file's lock; the kernel releases it when the process ends, however it ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
