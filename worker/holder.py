"""Who holds a home: the file that the process of its services locks, and in which it says where they answer.

A command that looks for services imports no more than this.
"""

import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from worker.errors import StartError
from worker.settings import Settings

START_SECONDS = 180
"""How long services may take until they answer: a machine that is busy with builds starts processes slowly."""


@dataclass(frozen=True, slots=True)
class Services:
    """Running services. `started` is True when the caller's context started them, False when it joined others'."""

    address: str
    home: Path
    started: bool


def find_running(settings: Settings) -> Services | None:
    """The services that run on this home and answer, None when there are none."""
    holder = _holder(settings)
    address = holder and holder.get("address")
    return Services(str(address), settings.home, started=False) if address else None


def await_running(settings: Settings) -> Services | None:
    """Like `find_running`, but wait for those that are just starting."""
    deadline = time.monotonic() + START_SECONDS
    while _holder(settings) is not None and time.monotonic() < deadline:
        running = find_running(settings)
        if running is not None:
            return running
        time.sleep(0.05)
    return None


def _holder(settings: Settings) -> dict[str, str | int | None] | None:
    """What the process that holds the home says of itself, None when nobody holds it."""
    path = _lock_path(settings)
    if not path.is_file():
        return None
    with path.open("r+") as file:
        return None if _try_lock(file) else _said(file)


def take_home(settings: Settings) -> IO[str]:
    """Lock the home for this process; the lock goes with the file or the process. Raises StartError with its holder."""
    file = _lock_path(settings).open("a+")
    if _try_lock(file):
        file.truncate(0)
        json.dump({"pid": os.getpid(), "address": None}, file)
        file.flush()
        return file
    holder = _said(file)
    file.close()
    where = f"and answers at {holder['address']}" if holder.get("address") else "and is just starting"
    raise StartError(
        f"Millrace runs on {settings.home} already: process {holder.get('pid', '?')} holds it {where}. "
        f"Use that one, or stop it (kill {holder.get('pid', 'PID')}), or set MILLRACE_HOME to another folder"
    )


def publish(lock: IO[str], address: str) -> None:
    """Say where the services answer, in the file that `take_home` gave."""
    lock.seek(0)
    lock.truncate()
    json.dump({"pid": os.getpid(), "address": address}, lock)
    lock.flush()


def _lock_path(settings: Settings) -> Path:
    return settings.run_dir / "lock"


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _said(file: IO[str]) -> dict[str, str | int | None]:
    file.seek(0)
    try:
        return json.load(file)
    except ValueError:  # between its truncation and its next line
        return {}
