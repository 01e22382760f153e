"""The store in a folder of this machine or of a network file system: `sha256/ab/cdef...`, one file per content.

A file appears under its digest complete or not at all: it is written beside, flushed to the disk, and renamed.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from worker.errors import CorruptArtifactError, StoreError
from worker.store.artifacts import ArtifactStore, Content
from worker.store.disk import disk_full_explained
from worker.store.names import digest_at, key_of


def _time(info: os.stat_result) -> datetime:
    return datetime.fromtimestamp(info.st_mtime, UTC)


def _write(file: BinaryIO, chunk: bytes) -> None:
    file.write(chunk)


class FolderStore(ArtifactStore):
    """`write` puts one chunk into an open file; tests replace it to see the disk fill up."""

    def __init__(self, root: Path, write: Callable[[BinaryIO, bytes], None] = _write) -> None:
        self.root = root
        self._write = write

    @property
    def url(self) -> str:
        return self.root.absolute().as_uri()

    def put_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        with disk_full_explained(self.root):
            return self._write_beside(chunks)

    def path(self, digest: str) -> Path:
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

    def stored_at(self, digest: str) -> datetime | None:
        try:
            return _time(self._path(digest).stat())
        except FileNotFoundError:
            return None

    def contents(self) -> Iterator[Content]:
        for folder in sorted((self.root / "sha256").glob("??")):
            for path in folder.iterdir():
                digest = digest_at(f"sha256/{folder.name}/{path.name}")
                with suppress(FileNotFoundError):  # somebody deleted it meanwhile
                    info = path.stat()
                    if digest is not None:
                        yield Content(digest, info.st_size, _time(info))

    def delete(self, digest: str) -> None:
        self._path(digest).unlink(missing_ok=True)

    def discard_unfinished(self, before: datetime) -> int:
        left = [p for p in (self.root / "incoming").glob("*") if p.stat().st_mtime < before.timestamp()]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _path(self, digest: str) -> Path:
        return self.root / key_of(digest)

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
