"""Archives of designs, from a service that may be anybody's."""

import io
import tarfile
from pathlib import Path
from typing import Literal

import pytest

from millrace.archive import ArchiveError, unpack, write_directory
from millrace.errors import UsageError

Member = tuple[str, bytes, bytes, int]
FILE: Member = ("dsg_1/hls/top.cpp", tarfile.REGTYPE, b"void top();", 0o644)
PROGRAM: Member = ("dsg_1/host/run.py", tarfile.REGTYPE, b"#!", 0o755)
FOLDER: Member = ("dsg_1/empty", tarfile.DIRTYPE, b"", 0o755)


def archive(*members: Member, mode: Literal["r|gz"] = "r|gz") -> tarfile.TarFile:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w|gz") as tar:
        for name, kind, content, permissions in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.mode, info.linkname = kind, len(content), permissions, "/etc/passwd"
            tar.addfile(info, io.BytesIO(content))
    buffer.seek(0)
    return tarfile.open(fileobj=buffer, mode=mode)


def test_files_and_folders_are_written(tmp_path: Path):
    unpack(archive(FILE, PROGRAM, FOLDER), tmp_path)
    assert (tmp_path / "dsg_1/hls/top.cpp").read_bytes() == b"void top();"
    assert (tmp_path / "dsg_1/host/run.py").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "dsg_1/empty").is_dir()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("dsg_1/../../outside", tarfile.REGTYPE),
        ("/tmp/outside", tarfile.REGTYPE),
        ("dsg_1/link", tarfile.SYMTYPE),
        ("dsg_1/link", tarfile.LNKTYPE),
        ("dsg_1/pipe", tarfile.FIFOTYPE),
        ("dsg_1/device", tarfile.CHRTYPE),
    ],
)
def test_what_a_design_does_not_hold_is_refused(tmp_path: Path, name: str, kind: bytes):
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(ArchiveError, match="not one of a design"):
        unpack(archive((name, kind, b"", 0o644)), folder)
    assert [*tmp_path.iterdir()] == [folder]


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path):
    with pytest.raises(ArchiveError, match="twice"):
        unpack(archive(FILE, FILE), tmp_path)


def test_no_member_is_written_through_a_link_of_an_earlier_one(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with pytest.raises(ArchiveError, match="not one of a design"):
        unpack(archive(("link/outside", tarfile.REGTYPE, b"", 0o644)), tmp_path / "in")


def packed(*members: Member) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w|gz") as tar:
        for name, kind, content, permissions in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.mode = kind, len(content), permissions
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_the_one_folder_becomes_the_directory(tmp_path: Path):
    content = packed(FILE, PROGRAM)
    write_directory(iter([content[:7], content[7:]]), tmp_path / "new" / "d")
    assert (tmp_path / "new" / "d" / "hls" / "top.cpp").read_bytes() == b"void top();"
    with pytest.raises(UsageError, match="is not empty"):
        write_directory(iter([content]), tmp_path / "new" / "d")


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", packed(FILE)[:60], packed(("a", tarfile.REGTYPE, b"", 0o644))],
    ids=["nothing", "a page", "cut off", "no folder"],  # not the bytes: the time is in them
)
def test_of_what_is_cut_off_or_none_nothing_is_written(tmp_path: Path, content: bytes):
    with pytest.raises(ArchiveError):
        write_directory(iter([content]), tmp_path / "d")
    assert list(tmp_path.iterdir()) == []
