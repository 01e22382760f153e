"""Zip archives from outside: what is declared is checked first, and held to."""

import io
import stat
import zipfile
from pathlib import Path

import pytest
import zip_bombs

from compiler.errors import InvalidInputError
from compiler.frontend.scan.archive import check_archive, checked_directory


def test_a_good_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("net/a", b"abc" * 1000)
        archive.writestr("net/b", b"")
    made = check_archive(tmp_path / "a.zip")
    assert made.members == ("net/a", "net/b")
    assert made.unpacked == 3000
    with checked_directory(io.BytesIO((tmp_path / "a.zip").read_bytes()), "a.zip") as archive:
        assert archive.read("net/b") == b""


def test_ratio_of_a_bomb(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"'net/weights' declares 8388608 bytes from .* ratio of at most 200"):
        check_archive(zip_bombs.bomb(tmp_path / "a.zip", 8))


def test_total_is_bounded_before_anything_is_unpacked(tmp_path: Path) -> None:
    content = zip_bombs.bomb(tmp_path / "a.zip", 8).read_bytes()
    refused = pytest.raises(InvalidInputError, match="declares 8 MiB unpacked; at most 4 MiB")
    with refused, checked_directory(io.BytesIO(content), "a.zip", max_unpacked=4 << 20):
        pass


@pytest.mark.parametrize("declared", [100, 1 << 20])
def test_size_that_is_a_lie(tmp_path: Path, declared: int) -> None:
    """Too small to be refused by its ratio: found by reading no further than declared."""
    with pytest.raises(InvalidInputError, match=r"not a whole zip archive|larger than|has .* bytes"):
        check_archive(zip_bombs.lying(tmp_path / "a.zip", declared))


def test_overlapping_members(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="overlaps"):
        check_archive(zip_bombs.overlapping(tmp_path / "a.zip"))


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../b", "a\\b"])
def test_names_that_point_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="points outside"):
        check_archive(zip_bombs.named(tmp_path / "a.zip", name))


def test_links(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInputError, match="is a link"):
        check_archive(tmp_path / "a.zip")


def test_too_many_members(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for i in range(20_001):
            archive.writestr(str(i), b"")
    with pytest.raises(InvalidInputError, match="20001 members"):
        check_archive(tmp_path / "a.zip")


@pytest.mark.parametrize("cut", [10, 500, 980])
def test_truncated_archives(tmp_path: Path, cut: int) -> None:
    path = zip_bombs.named(tmp_path / "a.zip", "a")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * cut // 1000])
    with pytest.raises(InvalidInputError, match="not a whole zip archive"):
        check_archive(path)
