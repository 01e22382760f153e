import errno
from collections import namedtuple
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from worker.errors import DiskFullError
from worker.node import disk
from worker.node.disk import has_room, is_disk_full
from worker.settings import Settings

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DiskFullError("full"), True),
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OperationalError("INSERT", {}, Exception("database or disk is full")), True),
        (OperationalError("INSERT", {}, Exception("could not extend file: No space left on device")), True),
        (OperationalError("INSERT", {}, Exception("database is locked")), False),
        (OSError(errno.EACCES, "Permission denied"), False),
        (ValueError("disk is full"), False),
    ],
)
def test_full_disks_are_recognised(error: Exception, expected: bool) -> None:
    assert is_disk_full(error) == expected


@pytest.mark.parametrize(
    ("total_mib", "free_mib", "expected"),
    [
        (1 << 20, 300, True),
        (1 << 20, 200, False),
        (1 << 10, 30, True),
        (1 << 10, 15, False),
        (6, 2, True),
        (6, 1, False),  # what the ballast gave way is for the database
    ],
)
def test_room_for_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total_mib: int, free_mib: int, expected: bool
) -> None:
    usage = Usage(total_mib << 20, (total_mib - free_mib) << 20, free_mib << 20)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: usage)
    assert has_room(Settings(home=tmp_path)) == expected
