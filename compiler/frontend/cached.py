"""Folders that are made once, however many processes want them at the same time; each has the time of its last use."""

import fcntl
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from compiler.errors import ToolError


def make_once(cache: Path, key: str, make: Callable[[Path], None], scratch: Path | None = None) -> Path:
    """The folder `cache`/`key`, made by `make` where it is not there; what lies there is always whole.

    `make` is given an empty folder in `scratch`, which is on the same file system, else beside it. Raises ToolError
    where the disk is full or not writable.
    """
    final, building = cache / key, (scratch or cache) / f".{key}.building"
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
        raise unwritable(error) from error
    return final


def unwritable(error: OSError) -> ToolError:
    """What to say where nothing can be kept."""
    return ToolError(f"cannot write to the cache: {error.strerror}; free space or choose another folder")


@contextmanager
def workplace(cache: Path, name: str) -> Generator[Path]:
    """An empty folder in `cache` in which things are made that belong there; one at a time has that of the same name.
    Raises ToolError where it can not be made.
    """
    folder = cache / f".{name}"
    with ExitStack() as held:
        try:
            cache.mkdir(parents=True, exist_ok=True)
            held.enter_context(locked(cache / f".{name}.lock"))
            shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
            folder.mkdir()
        except OSError as error:
            raise unwritable(error) from error
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


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
