"""How much a folder holds, counted as far as it matters."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.limits.group import Exceeded
from worker.limits.table import Limits

_BLOCK = 512  # the unit of st_blocks, whatever the file system's is


@dataclass(frozen=True, slots=True)
class Use:
    """Bytes on the disk, and how many files and folders there are."""

    bytes: int = 0
    files: int = 0


def use_of(folder: Path, most_files: int | None = None, most_bytes: int | None = None) -> Use:
    """What `folder` and all below it take of the disk, as `du` counts: a file with several names once. It stops soon
    after it has found more than the most.
    """
    size, files = 0, 0
    for size, files in _running(folder):
        if (most_files is not None and files > most_files) or (most_bytes is not None and size > most_bytes):
            break
    return Use(size, files)


def beyond(folder: Path, limits: Limits) -> Exceeded | None:
    """Which limit of disk or files the folder has gone beyond, None where neither."""
    use = use_of(folder, limits.files, limits.disk_bytes)
    if use.files > limits.files:
        return Exceeded("files", limits.files, use.files)
    return Exceeded("disk", limits.disk_bytes, use.bytes) if use.bytes > limits.disk_bytes else None


def _running(folder: Path) -> Iterator[tuple[int, int]]:
    """The sums so far, after each file."""
    size, files = 0, 0
    seen: set[tuple[int, int]] = set()
    for info in _all(folder):
        if info.st_nlink > 1:
            if (info.st_dev, info.st_ino) in seen:
                continue
            seen.add((info.st_dev, info.st_ino))
        size, files = size + info.st_blocks * _BLOCK, files + 1
        yield size, files


def _all(folder: Path) -> Iterator[os.stat_result]:
    """Of the folder and everything below it; what goes meanwhile, or may not be read, is left out."""
    with suppress(OSError):
        yield os.lstat(folder)
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
