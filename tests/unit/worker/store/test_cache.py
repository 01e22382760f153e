import os
from pathlib import Path

import pytest

from worker.errors import StoreError
from worker.store.cache import Cache
from worker.store.names import key_of


def age(root: Path, digest: str, seconds: float) -> None:
    path = root / key_of(digest)
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 4_000, in_use_seconds=10)
    digests = [cache.put([bytes([n]) * 1_000])[0] for n in range(4)]
    for n, digest in enumerate(digests):
        age(tmp_path, digest, 1_000 - n)
    assert cache.find(digests[0]) is not None  # used just now
    new, size = cache.put([b"x" * 1_500])
    assert size == 1_500
    assert [cache.find(digest) is not None for digest in (*digests, new)] == [True, False, False, True, True]


def test_what_is_in_use_stays_beyond_the_bound(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1_000, in_use_seconds=100)
    digests = [cache.put([bytes([n]) * 1_000])[0] for n in range(4)]
    assert all(cache.find(digest) for digest in digests)


def test_full_cache_of_an_earlier_process_shrinks_at_the_first_use(tmp_path: Path) -> None:
    before = Cache(tmp_path, 100_000)
    digests = [before.put([bytes([n]) * 1_000])[0] for n in range(10)]
    for digest in digests:
        age(tmp_path, digest, 1_000)
    Cache(tmp_path, 2_000).put([b"x"])
    assert sum(before.find(digest) is not None for digest in digests) == 1


def test_damaged_copy_is_dropped(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1_000)
    digest, _ = cache.put([b"abc"])
    (tmp_path / key_of(digest)).write_bytes(b"abd")
    assert cache.find(digest) is None
    assert not (tmp_path / key_of(digest)).exists()


def test_what_is_no_digest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a SHA-256"):
        Cache(tmp_path, 1_000).find("../x")
