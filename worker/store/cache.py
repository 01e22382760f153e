"""This machine's copies of artifacts that are kept elsewhere: a folder of bounded size, the longest unused go first.

Several processes of a machine share it.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from worker.errors import CorruptArtifactError, StoreError
from worker.store.folder import FolderStore
from worker.store.names import key_of

_IN_USE_SECONDS = 600
_LOOKS = 16


class Cache:
    """Copies below `root`, `max_bytes` of them, more only where they were all used within the last ten minutes."""

    def __init__(self, root: Path, max_bytes: int, in_use_seconds: float = _IN_USE_SECONDS) -> None:
        self._folder = FolderStore(root)
        self._max_bytes = max_bytes
        self._in_use_seconds = in_use_seconds
        self._unseen = max_bytes  # so that the first process after a restart looks at once

    def put(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Keep a copy; its digest and size. Raises DiskFullError."""
        digest, size = self._folder.put_chunks(chunks)
        self._unseen += size
        if self._unseen >= self._max_bytes // _LOOKS:
            self._unseen = 0
            self._make_room()
        return digest, size

    def find(self, digest: str) -> Path | None:
        """The copy, checked and counted as used now; None where there is none, or a damaged one."""
        try:
            path = self._folder.path(digest)
        except CorruptArtifactError:
            self.drop(digest)
            return None
        except (StoreError, FileNotFoundError):
            key_of(digest)  # what is no digest is wrong, not absent
            return None
        with suppress(FileNotFoundError):
            os.utime(path)
        return path

    def take(self, digest: str) -> Path:
        """The copy that was put just now. Raises StoreError when it is gone: the disk, or somebody, deleted it."""
        return self._folder.path(digest)

    def drop(self, digest: str) -> None:
        self._folder.delete(digest)

    def discard_unfinished(self, before: datetime) -> int:
        return self._folder.discard_unfinished(before)

    def _make_room(self) -> None:
        kept = sorted(self._folder.contents(), key=lambda content: content.stored_at)
        total = sum(content.size for content in kept)
        newest = time.time() - self._in_use_seconds
        for content in kept:
            if total <= self._max_bytes or content.stored_at.timestamp() > newest:
                return
            self.drop(content.digest)
            total -= content.size
