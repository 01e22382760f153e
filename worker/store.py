"""Content-addressed store of artifacts in a local folder: `sha256/ab/cdef...`, one file per content.

A file appears under its digest complete or not at all: it is written beside, flushed to the disk, and renamed.
"""

import errno
import hashlib
import mimetypes
import os
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from worker.errors import CorruptArtifactError, DiskFullError, StoreError, UnsafePathError

_CHUNK = 1 << 20
_TEXT_SUFFIXES = {".mlir", ".cpp", ".h", ".tcl", ".cfg", ".log", ".py", ".toml", ".ini"}
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored file of a directory: relative path, digest and size of its bytes."""

    path: str
    digest: str
    size: int
    media_type: str


def _write(file: BinaryIO, chunk: bytes) -> None:
    file.write(chunk)


class ArtifactStore:
    """`write` puts one chunk into an open file; tests replace it to see the disk fill up."""

    def __init__(self, root: Path, write: Callable[[BinaryIO, bytes], None] = _write) -> None:
        self.root = root
        self._write = write

    def put_bytes(self, data: bytes) -> str:
        """Store `data`; its digest. Raises DiskFullError."""
        return self._put([data])[0]

    def put_file(self, path: Path) -> tuple[str, int]:
        """Store a copy of the file; its digest and size. Raises DiskFullError."""
        with path.open("rb") as file:
            return self._put(iter(lambda: file.read(_CHUNK), b""))

    def put_stream(self, file: BinaryIO) -> tuple[str, int]:
        """Store what is left to read of an open file; its digest and size. Raises DiskFullError."""
        return self._put(iter(lambda: file.read(_CHUNK), b""))

    def put_tree(self, directory: Path) -> list[StoredFile]:
        """Store every regular file below `directory`. Raises DiskFullError, UnsafePathError (links, odd names)."""
        stored: list[StoredFile] = []
        for path in sorted(directory.rglob("*")):
            if path.is_symlink():
                raise UnsafePathError(f"{path} is a link; a design directory holds plain files only")
            if path.is_dir():
                continue
            relative = safe_path(path.relative_to(directory).as_posix())
            digest, size = self.put_file(path)
            stored.append(StoredFile(relative, digest, size, media_type(relative)))
        return stored

    def path(self, digest: str) -> Path:
        """Where the content with this digest is, after checking that it is still that content.

        Raises StoreError when it is not stored, CorruptArtifactError when it was damaged.
        """
        path = self._path(digest)
        if not path.is_file():
            raise StoreError(f"artifact {digest[:12]} is not in {self.root}; run its build again")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            raise CorruptArtifactError(
                f"{path} is damaged (its content is {found[:12]}); delete the file and run its build again"
            )
        return path

    def read(self, digest: str) -> bytes:
        """The content with this digest. Raises like `path`."""
        return self.path(digest).read_bytes()

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise StoreError(f"{digest!r} is not a SHA-256 digest")
        return self.root / "sha256" / digest[:2] / digest[2:]

    def _put(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        with self._disk_full_explained():
            return self._write_beside(chunks)

    def _write_beside(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        incoming = self.root / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        hasher, size = hashlib.sha256(), 0
        with NamedTemporaryFile(dir=incoming, delete=False) as file:
            temporary = Path(file.name)
            try:
                for chunk in chunks:
                    hasher.update(chunk)
                    size += len(chunk)
                    self._write(cast(BinaryIO, file), chunk)
                file.flush()
                os.fsync(file.fileno())
                self._publish(temporary, hasher.hexdigest())
            finally:
                temporary.unlink(missing_ok=True)
        return hasher.hexdigest(), size

    def _publish(self, temporary: Path, digest: str) -> None:
        target = self._path(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.chmod(0o644)
        temporary.rename(target)
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _disk_full_explained(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in _NO_SPACE:
                raise
            raise DiskFullError(disk_full_message(self.root)) from error


def disk_full_message(folder: Path) -> str:
    """What to tell a person when nothing more fits beside `folder`."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free
    return (
        f"the disk that holds {folder} is full ({free >> 20} MiB left). What was stored before is unharmed. "
        "Free some space, then resume the exploration or start the build again"
    )


def safe_path(path: str) -> str:
    """`path` if it is a plain relative path inside a design directory, else UnsafePathError."""
    parts = PurePosixPath(path).parts
    odd = not parts or path.startswith("/") or "\\" in path or any(ord(c) < 32 for c in path) or len(path) > 500
    if odd or ".." in parts or str(PurePosixPath(path)) != path:
        raise UnsafePathError(f"{path!r} is not a path inside the design directory")
    return path


def media_type(path: str) -> str:
    """Media type by suffix; sources and IR are plain text, so that a browser shows them."""
    suffix = PurePosixPath(path).suffix
    if suffix in _TEXT_SUFFIXES:
        return "text/plain; charset=utf-8"
    if suffix == ".md":
        return "text/markdown; charset=utf-8"
    return mimetypes.guess_type(path)[0] or "application/octet-stream"
