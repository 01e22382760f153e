"""What every artifact store promises: one test class, run on each of them.

A subclass gives `store`, and `damage`, which changes what is stored without going through the store.
"""

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worker.errors import CorruptArtifactError, StoreError, UnsafePathError
from worker.store.artifacts import ArtifactStore

Damage = Callable[[str, bytes], None]


class StoreContract:
    """Run on every implementation of ArtifactStore."""

    def test_content_is_named_by_its_digest(self, store: ArtifactStore) -> None:
        digest = store.put_bytes(b"abc")
        assert digest == hashlib.sha256(b"abc").hexdigest()
        assert store.read(digest) == store.path(digest).read_bytes() == b"abc"
        assert store.exists(digest)

    @pytest.mark.parametrize("size", [0, 1, (1 << 20) + 1, 40_000_000])
    def test_sizes(self, store: ArtifactStore, tmp_path: Path, size: int) -> None:
        data = os.urandom(size)
        (tmp_path / "file").write_bytes(data)
        digest, stored = store.put_file(tmp_path / "file")
        assert (digest, stored) == (hashlib.sha256(data).hexdigest(), size)
        assert store.read(digest) == data

    def test_equal_content_is_kept_once(self, store: ArtifactStore, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"abc")
        assert store.put_file(tmp_path / "file") == (store.put_bytes(b"abc"), 3)
        with (tmp_path / "file").open("rb") as file:
            file.read(1)
            assert store.put_stream(file)[1] == 2
        assert sorted(store.digests()) == sorted(hashlib.sha256(data).hexdigest() for data in (b"abc", b"bc"))

    def test_contents_say_size_and_age(self, store: ArtifactStore) -> None:
        assert list(store.contents()) == []
        digest = store.put_bytes(b"abc")
        [content] = store.contents()
        assert (content.digest, content.size) == (digest, 3)
        assert abs(datetime.now(UTC) - content.stored_at) < timedelta(seconds=30)

    def test_damage_is_found_on_reading_and_mended_by_storing_again(self, store: ArtifactStore, damage: Damage) -> None:
        digest = store.put_bytes(b"abc")
        damage(digest, b"abd")
        with pytest.raises(CorruptArtifactError, match="run its build again"):
            store.read(digest)
        store.put_bytes(b"abc")
        assert store.read(digest) == b"abc"

    def test_absent_content_says_what_to_do(self, store: ArtifactStore) -> None:
        assert not store.exists("0" * 64)
        with pytest.raises(StoreError, match="run its build again"):
            store.read("0" * 64)

    @pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 63, "Z" * 64, "0" * 62 + "/."])
    def test_what_is_no_digest_is_refused(self, store: ArtifactStore, digest: str) -> None:
        for use in (store.path, store.exists, store.delete):
            with pytest.raises(StoreError, match="not a SHA-256"):
                use(digest)

    def test_deleted_content_is_gone_and_can_be_stored_again(self, store: ArtifactStore) -> None:
        digest = store.put_bytes(b"abc")
        store.delete(digest)
        store.delete(digest)
        assert not store.exists(digest)
        with pytest.raises(StoreError):
            store.read(digest)
        store.put_bytes(b"abc")
        assert store.read(digest) == b"abc"

    def test_tree(self, store: ArtifactStore, tmp_path: Path) -> None:
        (tmp_path / "d" / "hls").mkdir(parents=True)
        (tmp_path / "d" / "hls" / "top.cpp").write_text("int x;")
        (tmp_path / "d" / "design.json").write_text("{}")
        found = store.put_tree(tmp_path / "d")
        assert [(f.path, f.size, f.media_type) for f in found] == [
            ("design.json", 2, "application/json"),
            ("hls/top.cpp", 6, "text/plain; charset=utf-8"),
        ]
        assert store.read(found[1].digest) == b"int x;"

    def test_tree_with_a_link_is_refused(self, store: ArtifactStore, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "secret").symlink_to("/etc/passwd")
        with pytest.raises(UnsafePathError, match="link"):
            store.put_tree(tmp_path / "d")

    def test_a_source_that_fails_leaves_nothing(self, store: ArtifactStore) -> None:
        def chunks():
            yield b"abc"
            raise OSError("the source is gone")

        with pytest.raises(OSError, match="the source is gone"):
            store.put_chunks(chunks())
        assert list(store.contents()) == []

    def test_many_writers_of_the_same_contents(self, store: ArtifactStore) -> None:
        with ThreadPoolExecutor(8) as pool:
            digests = list(pool.map(lambda i: store.put_bytes(b"%d" % (i % 4)), range(64)))
        assert len(set(digests)) == len(list(store.contents())) == 4
        assert {store.read(digest) for digest in digests} == {b"0", b"1", b"2", b"3"}
