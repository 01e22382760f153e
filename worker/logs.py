"""The logs of the services that the supervisor starts: files of bounded size, and a bounded number of older ones."""

import shutil
from pathlib import Path


def rotate(log: Path, most: int, files: int) -> bool:
    """Where the log has more than `most` bytes, begin it anew, and keep it as LOG.1, the one before as LOG.2, ..., so
    that there are `files` of them in all; whether it was done.

    Its writer keeps it open and appends: what is written in the moment between copy and cut is lost.
    """
    if not log.is_file() or log.stat().st_size <= most:
        return False
    for number in range(files - 2, 0, -1):
        if _older(log, number).is_file():
            _older(log, number).replace(_older(log, number + 1))
    if files > 1:
        shutil.copyfile(log, _older(log, 1))
    with log.open("r+b") as file:
        file.truncate(0)
    for extra in log.parent.glob(f"{log.name}.*"):
        if extra.suffix[1:].isdigit() and int(extra.suffix[1:]) >= files:
            extra.unlink()
    return True


def _older(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")
