"""The store in a bucket, on moto's server."""

import os
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store as Bucket
from s3_server import BUCKET, NOWHERE, s3_server, use_s3
from store_contract import Damage, StoreContract

import worker.store.s3 as s3_module
from worker.errors import CorruptArtifactError, StoreAwayError
from worker.store.names import key_of
from worker.store.s3 import S3Store, open_s3


@pytest.fixture(scope="module")
def endpoint() -> Generator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def url(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A part of the bucket for this test alone."""
    use_s3(monkeypatch, endpoint)
    monkeypatch.setattr(s3_module, "_RETRIES", 0)
    return f"s3://{BUCKET}/{os.urandom(6).hex()}"


@pytest.fixture
def store(url: str, tmp_path: Path) -> S3Store:
    return open_s3(url, tmp_path / "cache", 1 << 30)


@pytest.fixture
def bucket(url: str) -> Bucket:
    return Bucket.from_url(url, client_options={"allow_http": True})


@pytest.fixture
def damage(bucket: Bucket, tmp_path: Path) -> Damage:
    def spoil(digest: str, data: bytes) -> None:
        obstore.put(bucket, key_of(digest), data)
        (tmp_path / "cache" / key_of(digest)).unlink()

    return spoil


class TestS3Store(StoreContract):
    """In a bucket."""


def test_another_machine_reads_what_this_one_stored(store: S3Store, url: str, tmp_path: Path) -> None:
    digest = store.put_bytes(b"abc")
    other = open_s3(url, tmp_path / "elsewhere", 1 << 30)
    assert other.path(digest).is_relative_to(tmp_path / "elsewhere")
    assert other.read(digest) == b"abc"


def test_damaged_copy_on_this_machine_is_fetched_again(store: S3Store) -> None:
    digest = store.put_bytes(b"abc")
    store.path(digest).write_bytes(b"abd")
    assert store.read(digest) == b"abc"


def test_damaged_object_is_set_aside_for_a_person_to_look_at(store: S3Store, bucket: Bucket, damage: Damage) -> None:
    digest = store.put_bytes(b"abc")
    damage(digest, b"abd")
    with pytest.raises(CorruptArtifactError, match=f"damaged/{digest}"):
        store.read(digest)
    assert bytes(obstore.get(bucket, f"damaged/{digest}").bytes()) == b"abd"
    assert not store.exists(digest)


def test_young_object_is_not_sent_again_and_an_old_one_is(
    store: S3Store, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = store.put_bytes(b"abc")
    obstore.put(bucket, key_of(digest), b"xyz")  # would be overwritten by a second sending
    store.put_bytes(b"abc")
    assert bytes(obstore.get(bucket, key_of(digest)).bytes()) == b"xyz"
    monkeypatch.setattr(s3_module, "_YOUNG", timedelta(0))
    store.put_bytes(b"abc")
    assert bytes(obstore.get(bucket, key_of(digest)).bytes()) == b"abc"
    assert datetime.now(UTC) - next(store.contents()).stored_at < timedelta(seconds=30)


def test_absent_bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_s3(monkeypatch, endpoint)
    store = open_s3("s3://no-such-bucket/a", tmp_path, 1 << 30)
    with pytest.raises(StoreAwayError, match="no such bucket; create it"):
        store.put_bytes(b"abc")
    with pytest.raises(StoreAwayError, match="no such bucket; create it"):
        store.path("0" * 64)


def test_absent_credentials(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_s3(monkeypatch, endpoint)
    monkeypatch.setattr(s3_module, "_RETRIES", 0)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(StoreAwayError, match="set AWS_ACCESS_KEY_ID"):
        open_s3(f"s3://{BUCKET}/a", tmp_path, 1 << 30).put_bytes(b"abc")


def test_store_that_is_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_s3(monkeypatch, NOWHERE)
    monkeypatch.setattr(s3_module, "_RETRIES", 1)
    store = open_s3(f"s3://{BUCKET}/a", tmp_path, 1 << 30)
    with pytest.raises(StoreAwayError, match="does not answer; check AWS_ENDPOINT_URL"):
        store.exists("0" * 64)
