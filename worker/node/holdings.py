"""What this node holds on its disk, and what for: each file below home counts once, as `du` counts it."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from worker.limits.disk import use_of
from worker.settings import Settings

OTHER = "other"
_SECONDS = 60.0
_SHARE = 0.02
"""Part of the time that counting may take, where there is much to count."""


class Holdings:
    """Counts in a thread of its own, now and then. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._found: Mapping[str, int] = {}
        self._due = 0.0

    def latest(self) -> Mapping[str, int]:
        """Bytes by what they are for, as of the last count, empty before the first; has them counted again when due."""
        with self._lock:
            is_due = time.monotonic() >= self._due
            if is_due:
                self._due = float("inf")
        if is_due:
            threading.Thread(target=self._count, daemon=True, name="holdings").start()
        return self._found

    def _count(self) -> None:
        started = time.monotonic()
        try:
            self._found = held_by(self._settings)
        finally:
            ended = time.monotonic()
            self._due = ended + max(_SECONDS, (ended - started) / _SHARE)


def held_by(settings: Settings) -> dict[str, int]:
    """Bytes below home by what they are for. Takes 3 us a file."""
    found: Counter[str] = Counter()
    for what, path in _parts(settings):
        found[what] += use_of(path).bytes
    for folder in (settings.home, settings.run_dir):  # the folders themselves
        found[OTHER] += use_of(folder, most_files=0).bytes
    return {what: size for what, size in sorted(found.items()) if size}


def _parts(settings: Settings) -> Iterator[tuple[str, Path]]:
    """Everything in home, with what it is for."""
    names = {
        settings.store_dir: "store",
        settings.cache_dir: "cache",
        settings.bundle_dir: "bundles",
        settings.model_dir: "models",
        settings.log_dir: "logs",
        settings.run_dir / "scratch": "scratch",
    }
    for folder in (settings.home.absolute(), settings.run_dir):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name.startswith("millrace.db"):
                yield "database", path
            elif path != settings.run_dir:
                yield names.get(path, OTHER), path
