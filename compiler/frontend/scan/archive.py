"""Zip archives from outside: what the central directory declares is checked before a byte is unpacked, then held to.

A member is refused for its size, its ratio, its name, or for overlapping another one; reading stops at what was
declared.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from compiler.errors import InvalidInputError
from compiler.frontend.scan.bounds import MAX_DIRECTORY, MAX_MEMBERS, MAX_RATIO, MAX_UNPACKED

_FREE_RATIO_BYTES = 1 << 20  # small members may compress as they like
_BLOCK = 1 << 20
_END, _END_BYTES = b"PK\x05\x06", 22
_MAX_COMMENT = 1 << 16


@dataclass(frozen=True, slots=True)
class Archive:
    """A checked archive: names of its members and their sizes together."""

    members: tuple[str, ...]
    unpacked: int


@contextmanager
def checked_directory(file: BinaryIO, name: str, max_unpacked: int = MAX_UNPACKED) -> Generator[zipfile.ZipFile]:
    """An archive whose list of members is as it should be; nothing is unpacked. Raises InvalidInputError that names the
    member.
    """
    _check_end(file, name)
    with _opened(file, name) as archive:
        _check_declared(name, archive.infolist(), max_unpacked)
        yield archive


def check_archive(path: Path, max_unpacked: int = MAX_UNPACKED) -> Archive:
    """Check what an archive declares, then unpack every member into nothing to see that it is true.

    Raises InvalidInputError that names the member.
    """
    with _opened(path, path.name) as archive:
        members = archive.infolist()
        _check_declared(path.name, members, max_unpacked)
        for member in members:
            _check_content(path.name, archive, member)
    return Archive(tuple(m.filename for m in members), sum(m.file_size for m in members))


@contextmanager
def _opened(file: Path | BinaryIO, name: str) -> Generator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{name} is not a whole zip archive: {error}") from error


def _check_end(file: BinaryIO, name: str) -> None:
    """The last record says how long the list of members is, which is read as a whole."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _MAX_COMMENT))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or at + _END_BYTES > len(tail):
        raise InvalidInputError(f"{name} is not a whole zip archive: it has no list of members at its end")
    members, length = struct.unpack_from("<H", tail, at + 10)[0], struct.unpack_from("<I", tail, at + 12)[0]
    if members > MAX_MEMBERS or length > MAX_DIRECTORY:
        raise InvalidInputError(f"{name} has {members} members or more; at most {MAX_MEMBERS} are accepted")


def _check_declared(where: str, members: list[zipfile.ZipInfo], max_unpacked: int) -> None:
    if len(members) > MAX_MEMBERS:
        raise InvalidInputError(f"{where} has {len(members)} members; at most {MAX_MEMBERS} are accepted")
    if (total := sum(m.file_size for m in members)) > max_unpacked:
        raise InvalidInputError(
            f"{where} declares {total >> 20} MiB unpacked; at most {max_unpacked >> 20} MiB are accepted"
        )
    end = 0
    for member in sorted(members, key=lambda m: m.header_offset):
        _check_member(where, member)
        if member.header_offset < end:
            raise InvalidInputError(f"{where}: member {member.filename!r} overlaps another one")
        end = member.header_offset + member.compress_size


def _check_member(where: str, member: zipfile.ZipInfo) -> None:
    name = PurePosixPath(member.filename)
    if name.is_absolute() or ".." in name.parts or "\\" in member.filename or "\0" in member.filename:
        raise InvalidInputError(f"{where}: member {member.filename!r} points outside the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise InvalidInputError(f"{where}: member {member.filename!r} is a link")
    if member.file_size > max(_FREE_RATIO_BYTES, MAX_RATIO * member.compress_size):
        raise InvalidInputError(
            f"{where}: member {member.filename!r} declares {member.file_size} bytes from {member.compress_size}; a "
            f"ratio of at most {MAX_RATIO} is accepted"
        )


def _check_content(where: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read the member to its end: zipfile checks the checksum there."""
    seen = 0
    with archive.open(member) as file:
        while block := file.read(_BLOCK):
            seen += len(block)
            if seen > member.file_size:
                raise InvalidInputError(f"{where}: member {member.filename!r} is larger than it declares")
    if seen != member.file_size:
        raise InvalidInputError(f"{where}: member {member.filename!r} has {seen} bytes, not {member.file_size}")
