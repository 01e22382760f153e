"""What a store of artifacts promises; `FolderStore` and `S3Store` keep the promises, one test class holds both to them.

- A content is named by its SHA-256 digest. It is there complete or not at all, whenever its writer dies.
- Storing what is there already is harmless, makes it young again (see `contents`), and mends it if it was damaged.
- Every reading checks the digest of what it read: nobody ever gets other bytes than those that were stored.
- Many processes on many machines may use one store at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from worker.errors import CorruptArtifactError, UnsafePathError
from worker.store.names import media_type, safe_path

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored file of a directory: relative path, digest and size of its bytes."""

    path: str
    digest: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Content:
    """One content of a store: size in bytes, and when it was last stored, in UTC."""

    digest: str
    size: int
    stored_at: datetime


class ArtifactStore(ABC):
    """A content-addressed store. All methods raise StoreAwayError where the store itself can not be used."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Its address as `MILLRACE_STORE_URL` takes it."""

    @abstractmethod
    def put_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Store the chunks as one content; its digest and size. Raises DiskFullError."""

    @abstractmethod
    def path(self, digest: str) -> Path:
        """A local file with this content, after checking that it is still that content; not to be written to.

        It stays for the minutes that reading it takes. Raises StoreError when it is not stored, CorruptArtifactError
        when it was damaged.
        """

    @abstractmethod
    def stored_at(self, digest: str) -> datetime | None:
        """When the content was last stored, in UTC; None where it is not. Its bytes are not looked at."""

    @abstractmethod
    def contents(self) -> Iterator[Content]:
        """All contents, in no order; one that is stored meanwhile may be left out."""

    @abstractmethod
    def delete(self, digest: str) -> None:
        """Remove a content; fine if it is gone already."""

    @abstractmethod
    def discard_unfinished(self, before: datetime) -> int:
        """Remove what writers that died before then left behind; how many files."""

    def exists(self, digest: str) -> bool:
        """Whether the content is stored; its bytes are not looked at."""
        return self.stored_at(digest) is not None

    def is_whole(self, digest: str) -> bool:
        """Whether the content is stored and undamaged; its bytes are read."""
        try:
            return self.exists(digest) and self.path(digest).is_file()
        except CorruptArtifactError:
            return False

    def put_bytes(self, data: bytes) -> str:
        """Store `data`; its digest. Raises DiskFullError."""
        return self.put_chunks([data])[0]

    def put_file(self, path: Path) -> tuple[str, int]:
        """Store a copy of the file; its digest and size. Raises DiskFullError."""
        with path.open("rb") as file:
            return self.put_stream(file)

    def put_stream(self, file: BinaryIO) -> tuple[str, int]:
        """Store what is left to read of an open file; its digest and size. Raises DiskFullError."""
        return self.put_chunks(iter(lambda: file.read(CHUNK), b""))

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

    def read(self, digest: str) -> bytes:
        """The content with this digest. Raises like `path`."""
        return self.path(digest).read_bytes()

    def digests(self) -> Iterator[str]:
        """The digests of `contents`."""
        return (content.digest for content in self.contents())
