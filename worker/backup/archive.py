"""Backups in one file: tar, plain or packed by gzip or Zstandard, written and read from beginning to end."""

import tarfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast

import zstandard

from worker.backup.files import sync
from worker.errors import BackupError
from worker.private import private_file

_SUFFIXES = (".tar", ".tar.gz", ".tar.zst")


def is_archive(path: Path) -> bool:
    """Whether the path names an archive, which it does by its suffix."""
    return path.name.endswith(_SUFFIXES)


@contextmanager
def archive_writer(path: Path, check: Callable[[Path, Path], None]) -> Generator[tarfile.TarFile]:
    """A new archive, which appears under its name once it is complete, on the disk, and `check`, which is given where
    it lies and its name, has read it back.
    """
    temporary = path.with_name(f"{path.name}.part")
    private_file(temporary)
    try:
        with _packed(temporary, "w", path) as file, _tar(file, "w", path) as tar:
            yield tar
        sync(temporary)
        check(temporary, path)
        temporary.rename(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def archive_reader(path: Path, name: Path) -> Generator[tarfile.TarFile]:
    """The archive, packed as its name says, to be read in its order. Raises BackupError."""
    try:
        with _packed(path, "r", name) as file, _tar(file, "r", name) as tar:
            yield tar
    except (tarfile.TarError, zstandard.ZstdError, EOFError) as error:
        raise BackupError(f"{name} is no archive, or a damaged one: {error}") from error


def _packed(path: Path, mode: Literal["r", "w"], name: Path) -> IO[bytes]:
    """The file's bytes as tarfile is to see them, which knows gzip itself."""
    if name.suffix == ".zst":
        return cast(Any, zstandard).open(path, f"{mode}b")
    return path.open(f"{mode}b")


def _tar(file: IO[bytes], mode: Literal["r", "w"], name: Path) -> tarfile.TarFile:
    packing = "gz" if name.suffix == ".gz" else ""
    return cast(Any, tarfile.open)(fileobj=file, mode=f"{mode}|{packing}")
