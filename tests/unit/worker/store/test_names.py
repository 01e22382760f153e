import pytest

from worker.errors import UnsafePathError
from worker.store.names import digest_at, key_of, media_type, safe_path


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


def test_key_and_digest() -> None:
    digest = "ab" * 32
    assert digest_at(key_of(digest)) == digest
    assert [digest_at(key) for key in ("sha256/ab/short", "sha256/abab" + "/ab" * 30, "damaged/" + digest)] == [
        None
    ] * 3
