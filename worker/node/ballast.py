"""A file that keeps a little room: when the disk is full it makes way, so that the database can still say why."""

import os
from contextlib import suppress

from worker.settings import Settings

BALLAST_BYTES = 1 << 20


def take_on_ballast(settings: Settings) -> None:
    """Make the file if it is missing. Raises OSError when not even that fits."""
    path = settings.home / "ballast"
    if path.exists():
        return
    try:
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, BALLAST_BYTES)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def drop_ballast(settings: Settings) -> None:
    """Free the room it kept; the next start takes it on again."""
    with suppress(OSError):
        (settings.home / "ballast").unlink(missing_ok=True)
