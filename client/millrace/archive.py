"""A design directory as a service sends it: a tar.gz with files and folders below one folder, and nothing else.

tarfile's own filter for this came with Python 3.11.4 only, and Debian 12 has 3.11.2.
"""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarFile
from tempfile import TemporaryDirectory
from typing import cast

from millrace.errors import Error, UsageError

_EXECUTABLE = 0o100


class ArchiveError(Error):
    """What came is not the archive of a design."""


def check_free(out: Path) -> None:
    """Raises UsageError where something is in the way of a new directory."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not empty; name another directory")


def write_directory(chunks: Iterator[bytes], out: Path) -> None:
    """Write the archive's one folder as `out`: whole, or not at all. Raises ArchiveError, UsageError."""
    check_free(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        try:
            with tarfile.open(fileobj=cast("io.BufferedIOBase", _Stream(chunks)), mode="r|gz") as archive:
                unpack(archive, Path(folder))
        except (tarfile.TarError, EOFError, OSError) as error:
            raise ArchiveError(f"the archive is damaged or was cut off ({error}); ask for it again") from error
        found = list(Path(folder).iterdir())
        if len(found) != 1 or not found[0].is_dir():
            raise ArchiveError("the archive is not one of a design: it does not hold one folder")
        found[0].replace(out)


class _Stream(io.RawIOBase):
    """Chunks of bytes as a file to read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._rest += chunk
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        return taken


def unpack(archive: TarFile, folder: Path) -> None:
    """Write what the archive holds into the folder.

    Raises ArchiveError for a member that would land elsewhere, is there twice, or is neither file nor folder.
    """
    inside = folder.resolve()
    for member in archive:
        target = (folder / member.name).resolve()
        if not target.is_relative_to(inside) or not (member.isfile() or member.isdir()):
            raise ArchiveError(
                f"the archive is not one of a design: it holds {member.name!r}; was the service changed?"
            )
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        content = archive.extractfile(member)
        assert content is not None  # it is a file
        try:
            with target.open("xb") as file:
                shutil.copyfileobj(content, file)
        except FileExistsError as error:
            raise ArchiveError(f"the archive is not one of a design: it holds {member.name!r} twice") from error
        if member.mode & _EXECUTABLE:
            target.chmod(0o755)
