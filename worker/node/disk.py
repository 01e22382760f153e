"""Full disks: recognising them, and whether there is room to work again."""

import errno
import shutil

from sqlalchemy.exc import OperationalError

from worker.errors import DiskFullError
from worker.node.ballast import BALLAST_BYTES
from worker.settings import Settings

_MOST_KEPT_FREE = 256 << 20
_SHARE_KEPT_FREE = 0.02


def is_disk_full(error: BaseException) -> bool:
    """Whether `error` says that nothing more fits on the disk, from the file system or from the database."""
    if isinstance(error, DiskFullError):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    text = str(error).lower()
    return isinstance(error, OperationalError) and ("disk is full" in text or "no space left" in text)


def has_room(settings: Settings) -> bool:
    """Whether the disk that holds home has room for a job: more than what the ballast gave way."""
    usage = shutil.disk_usage(settings.home)
    kept = min(_MOST_KEPT_FREE, _SHARE_KEPT_FREE * usage.total)
    return usage.free >= max(kept, 1.25 * BALLAST_BYTES)
