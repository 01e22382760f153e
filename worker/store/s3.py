"""The store in a bucket of S3 or of what speaks its protocol, with copies on this machine.

Endpoint and credentials are those of the usual `AWS_*` variables (AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, ...), or of the machine's or pod's role. An object appears whole or not at all; large ones go in
parts, and what a killed writer leaves of them is for a lifecycle rule of the bucket to remove.
"""

import logging
import os
import ssl
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import certifi
import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store as Bucket

from worker.errors import CorruptArtifactError, StoreAwayError, StoreError
from worker.store.artifacts import CHUNK, ArtifactStore, Content
from worker.store.cache import Cache
from worker.store.names import digest_at, key_of

_PART = 16 << 20
_YOUNG = timedelta(hours=12)
_RETRIES = 5
_RETRY_FOR = timedelta(seconds=60)
_CREDENTIALS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "/latest/api/token", "/meta-data/", "AccessDenied")

_log = logging.getLogger(__name__)


def open_s3(url: str, cache: Path, cache_bytes: int) -> "S3Store":
    """The store at `s3://bucket/prefix`; nothing is contacted yet. Raises StoreError for settings it can not use."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    client: Any = {"connect_timeout": timedelta(seconds=5), "allow_http": endpoint.startswith("http://")}
    retry: Any = {"max_retries": _RETRIES, "retry_timeout": _RETRY_FOR}
    _find_authorities()
    with _explained(url):
        return S3Store(url, Bucket.from_url(url, client_options=client, retry_config=retry), Cache(cache, cache_bytes))


def _find_authorities() -> None:
    """Name a bundle of certificate authorities where the system has none: obstore makes no client without one."""
    system = ssl.get_default_verify_paths()
    if not (system.cafile or (system.capath and any(Path(system.capath).iterdir()))):
        os.environ["SSL_CERT_FILE"] = certifi.where()


class S3Store(ArtifactStore):
    """Objects below `url`; `cache` is a folder of this machine that every content passes through."""

    def __init__(self, url: str, bucket: Bucket, cache: Cache) -> None:
        self._url = url
        self._bucket = bucket
        self._cache = cache

    @property
    def url(self) -> str:
        return self._url

    def put_chunks(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        digest, size = self._cache.put(chunks)
        with _explained(self._url):
            self._upload(digest, size)
        return digest, size

    def path(self, digest: str) -> Path:
        found = self._cache.find(digest)
        if found is not None:
            return found
        with _explained(self._url):
            self._download(digest)
        return self._cache.take(digest)

    def stored_at(self, digest: str) -> datetime | None:
        with _explained(self._url):
            return self._stored_at(digest)

    def contents(self) -> Iterator[Content]:
        with _explained(self._url):
            pages = obstore.list(self._bucket, "sha256")  # pyright: ignore[reportUnknownMemberType]
            for item in chain.from_iterable(pages):
                digest = digest_at(item["path"])
                if digest is not None:
                    yield Content(digest, item["size"], item["last_modified"])

    def delete(self, digest: str) -> None:
        with _explained(self._url), suppress(FileNotFoundError):
            obstore.delete(self._bucket, key_of(digest))
        self._cache.drop(digest)

    def discard_unfinished(self, before: datetime) -> int:
        return self._cache.discard_unfinished(before)

    def _stored_at(self, digest: str) -> datetime | None:
        try:
            return obstore.head(self._bucket, key_of(digest))["last_modified"]
        except FileNotFoundError:
            return None

    def _upload(self, digest: str, size: int) -> None:
        """Unless it was stored lately: an old object is written anew, so that nobody takes it for garbage meanwhile."""
        stored_at = self._stored_at(digest)
        if stored_at is not None and datetime.now(UTC) - stored_at < _YOUNG:
            return
        path = self._cache.take(digest)
        if stored_at is None and size <= _PART:
            with suppress(AlreadyExistsError):  # somebody else was faster, with the same bytes
                obstore.put(self._bucket, key_of(digest), path, mode="create")
            return
        obstore.put(self._bucket, key_of(digest), path, chunk_size=_PART, max_concurrency=4)

    def _download(self, digest: str) -> None:
        try:
            stream = obstore.get(self._bucket, key_of(digest)).stream(CHUNK)
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise
            raise StoreError(f"artifact {digest[:12]} is not in {self._url}; run its build again") from None
        found, _ = self._cache.put(map(bytes, stream))
        if found != digest:
            self._cache.drop(found)
            self._set_aside(digest, found)

    def _set_aside(self, digest: str, found: str) -> None:
        """Move a damaged object out of the way, so that storing the content again mends it; raises in any case."""
        aside = f"damaged/{digest}"
        obstore.rename(self._bucket, key_of(digest), aside)
        raise CorruptArtifactError(
            f"artifact {digest[:12]} in {self._url} is damaged (its content is {found[:12]}) and was moved to {aside}; "
            "run its build again"
        )


@contextmanager
def _explained(url: str) -> Generator[None]:
    try:
        yield
    except (BaseError, FileNotFoundError, ValueError) as error:
        _log.debug("%s: %s", url, error)
        raise StoreAwayError(f"the artifact store {url} {_reason(error)}: {_first_line(error)}") from error


def _reason(error: Exception) -> str:
    text = str(error)
    if "NoSuchBucket" in text:
        return "has no such bucket; create it, or correct MILLRACE_STORE_URL or AWS_ENDPOINT_URL"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or any(sign in text for sign in _CREDENTIALS):
        return "refuses our credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and allow them the bucket"
    if isinstance(error, ValueError):
        return "can not be opened with these settings"
    return "does not answer; check AWS_ENDPOINT_URL and the network, then start the build again"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
