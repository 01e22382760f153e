import errno
import hashlib
from pathlib import Path
from typing import BinaryIO

import pytest

from worker.errors import CorruptArtifactError, DiskFullError, StoreError, UnsafePathError
from worker.store import ArtifactStore, media_type, safe_path


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "store")


def files(store: ArtifactStore) -> list[Path]:
    return [p for p in store.root.rglob("*") if p.is_file()]


def test_content_lies_under_its_digest(store: ArtifactStore) -> None:
    digest = store.put_bytes(b"abc")
    assert digest == hashlib.sha256(b"abc").hexdigest()
    assert store.path(digest) == store.root / "sha256" / digest[:2] / digest[2:]
    assert store.read(digest) == b"abc"


def test_equal_content_is_kept_once(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert store.put_file(tmp_path / "file") == (store.put_bytes(b"abc"), 3)
    assert len(files(store)) == 1


def test_damage_is_found_on_reading_and_mended_by_storing_again(store: ArtifactStore) -> None:
    digest = store.put_bytes(b"abc")
    store.path(digest).write_bytes(b"abd")
    with pytest.raises(CorruptArtifactError, match="run its build again"):
        store.read(digest)
    store.put_bytes(b"abc")
    assert store.read(digest) == b"abc"


def test_absent_content_says_what_to_do(store: ArtifactStore) -> None:
    with pytest.raises(StoreError, match="run its build again"):
        store.read("0" * 64)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 63, "Z" * 64, "0" * 62 + "/."])
def test_what_is_no_digest_is_refused(store: ArtifactStore, digest: str) -> None:
    with pytest.raises(StoreError, match="not a SHA-256"):
        store.path(digest)


def test_full_disk_says_so_and_loses_nothing(store: ArtifactStore, tmp_path: Path) -> None:
    digest = store.put_bytes(b"before")

    def write_some(file: BinaryIO, chunk: bytes) -> None:
        file.write(chunk[: len(chunk) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    full = ArtifactStore(store.root, write=write_some)
    with pytest.raises(DiskFullError, match=r"is full .* Free some space, then resume"):
        full.put_bytes(b"too much")
    assert store.read(digest) == b"before"
    assert len(files(store)) == 1  # no half file


def test_other_errors_are_not_called_a_full_disk(store: ArtifactStore) -> None:
    def fail(_file: BinaryIO, _chunk: bytes) -> None:
        raise OSError(errno.EIO, "I/O error")

    with pytest.raises(OSError, match="I/O error"):
        ArtifactStore(store.root, write=fail).put_bytes(b"x")


def test_tree(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "d" / "hls").mkdir(parents=True)
    (tmp_path / "d" / "hls" / "top.cpp").write_text("int x;")
    (tmp_path / "d" / "design.json").write_text("{}")
    found = store.put_tree(tmp_path / "d")
    assert [(f.path, f.size, f.media_type) for f in found] == [
        ("design.json", 2, "application/json"),
        ("hls/top.cpp", 6, "text/plain; charset=utf-8"),
    ]
    assert store.read(found[1].digest) == b"int x;"


def test_tree_with_a_link_is_refused(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "secret").symlink_to("/etc/passwd")
    with pytest.raises(UnsafePathError, match="link"):
        store.put_tree(tmp_path / "d")


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "./a", "a/.", "a\\b", "a\nb", "a\0b", "x" * 501]
)
def test_paths_that_could_leave_the_directory(path: str) -> None:
    with pytest.raises(UnsafePathError):
        safe_path(path)


@pytest.mark.parametrize("path", ["a", "hls/top.cpp", "ir/00-linalg.mlir", "..a/b..", "a b"])
def test_plain_paths(path: str) -> None:
    assert safe_path(path) == path


def test_media_types() -> None:
    assert media_type("ir/0.mlir") == "text/plain; charset=utf-8"
    assert media_type("README.md") == "text/markdown; charset=utf-8"
    assert media_type("tb/x.bin") == "application/octet-stream"
