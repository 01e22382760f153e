"""Zip archives that lie, unpack to far too much, or point elsewhere."""

import struct
import zipfile
from pathlib import Path

CENTRAL, LOCAL = b"PK\x01\x02", b"PK\x03\x04"


def bomb(path: Path, megabytes: int) -> Path:
    """Zeros, packed a thousandfold, honestly declared."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("net/weights", "w") as member:
        for _ in range(megabytes):
            member.write(bytes(1 << 20))
    return path


def lying(path: Path, declared: int) -> Path:
    """As `bomb` of 8 MiB, with `declared` bytes in both headers."""
    content = bytearray(bomb(path, 8).read_bytes())
    for signature, offset in ((LOCAL, 22), (CENTRAL, 24)):
        at = content.index(signature) + offset
        content[at : at + 4] = struct.pack("<I", declared)
    path.write_bytes(content)
    return path


def overlapping(path: Path) -> Path:
    """Two members of the directory that share one content: unpacked it is twice as much as the file holds."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", bytes(1000))
        archive.writestr("b", bytes(1000))
    content = bytearray(path.read_bytes())
    second = content.index(CENTRAL, content.index(CENTRAL) + 1)
    content[second + 42 : second + 46] = struct.pack("<I", 0)
    path.write_bytes(content)
    return path


def named(path: Path, name: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"content")
    return path
