"""What to say when a disk is full."""

import errno
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from worker.errors import DiskFullError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def disk_full_explained(folder: Path) -> Generator[None]:
    """Raise DiskFullError in place of an error that says that nothing more fits beside `folder`."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        raise DiskFullError(disk_full_message(folder)) from error


def disk_full_message(folder: Path) -> str:
    """What to tell a person when nothing more fits beside `folder`."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free
    return (
        f"the disk that holds {folder} is full ({free >> 20} MiB left). What was stored before is unharmed. "
        "Free some space, then resume the exploration or start the build again"
    )
