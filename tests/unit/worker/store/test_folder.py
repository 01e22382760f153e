import errno
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import pytest
from store_contract import Damage, StoreContract

from worker.errors import DiskFullError
from worker.store.folder import FolderStore


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


@pytest.fixture
def damage(store: FolderStore) -> Damage:
    def spoil(digest: str, data: bytes) -> None:
        (store.root / "sha256" / digest[:2] / digest[2:]).write_bytes(data)

    return spoil


class TestFolderStore(StoreContract):
    """In a folder."""


def files(store: FolderStore) -> list[Path]:
    return [p for p in store.root.rglob("*") if p.is_file()]


def test_content_lies_under_its_digest(store: FolderStore) -> None:
    digest = store.put_bytes(b"abc")
    assert store.path(digest) == store.root / "sha256" / digest[:2] / digest[2:]
    assert files(store) == [store.path(digest)]


def test_full_disk_says_so_and_loses_nothing(store: FolderStore) -> None:
    digest = store.put_bytes(b"before")

    def write_some(file: BinaryIO, chunk: bytes) -> None:
        file.write(chunk[: len(chunk) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    full = FolderStore(store.root, write=write_some)
    with pytest.raises(DiskFullError, match=r"is full .* Free some space, then resume"):
        full.put_bytes(b"too much")
    assert store.read(digest) == b"before"
    assert len(files(store)) == 1  # no half file


def test_other_errors_are_not_called_a_full_disk(store: FolderStore) -> None:
    def fail(_file: BinaryIO, _chunk: bytes) -> None:
        raise OSError(errno.EIO, "I/O error")

    with pytest.raises(OSError, match="I/O error"):
        FolderStore(store.root, write=fail).put_bytes(b"x")


def test_storing_again_makes_young(store: FolderStore) -> None:
    digest = store.put_bytes(b"abc")
    os.utime(store.path(digest), (0, 0))
    assert next(store.contents()).stored_at == datetime(1970, 1, 1, tzinfo=UTC)
    store.put_bytes(b"abc")
    assert datetime.now(UTC) - next(store.contents()).stored_at < timedelta(minutes=1)


def test_what_killed_writers_left_is_discarded_once_it_is_old(store: FolderStore) -> None:
    digest = store.put_bytes(b"abc")
    (store.root / "incoming" / "half").write_bytes(b"ab")
    now = datetime.now(UTC)
    assert store.discard_unfinished(now - timedelta(hours=1)) == 0
    assert store.discard_unfinished(now + timedelta(hours=1)) == 1
    assert files(store) == [store.path(digest)]
