"""What only this user may read: the home with all that is in it, the database in it, backups."""

import logging
import os
import stat
from pathlib import Path

from sqlalchemy import make_url

from worker.errors import StartError
from worker.settings import Settings

_OTHERS = 0o077
_log = logging.getLogger(__name__)


def private_directory(path: Path) -> None:
    """Make `path` a directory that only we can enter. Raises StartError when somebody else made it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise StartError(f"{path} belongs to somebody else; remove it, or set MILLRACE_HOME to another folder")
    path.chmod(0o700)


def private_file(path: Path) -> None:
    """Have `path` be a file that only we can read, to be written next; one that is there is emptied."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)):
        path.chmod(0o600)


def tighten(settings: Settings) -> list[str]:
    """Take the home, the database in a file and the key of webhooks from others who can read them, as those can that
    an earlier release made; what was done, in words, is in the log too. What is not ours stays as it is.
    """
    home = settings.home.absolute()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    done = [text for path in (home, *_database_files(settings), settings.secret_key) if (text := _tightened(path))]
    for text in done:
        _log.warning("%s", text)
    return done


def _database_files(settings: Settings) -> list[Path]:
    url = make_url(settings.database)
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return []
    return [Path(url.database + suffix) for suffix in ("", "-wal", "-shm", ".migrate.lock")]


def _tightened(path: Path) -> str | None:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & _OTHERS:
            return None
        path.chmod(mode & ~_OTHERS)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{path} can be read by others, and that can not be changed: {error.strerror}"
    return f"{path} could be read by others ({mode:04o}); now only its owner can"
