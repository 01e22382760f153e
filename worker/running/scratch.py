"""Scratch directories of jobs. Each is named after its process; those of dead processes are swept at a start."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

from worker.settings import Settings


@contextmanager
def scratch_directory(settings: Settings) -> Generator[Path]:
    """A directory that is removed with its content at the end."""
    root = _root(settings)
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-", dir=root) as folder:
        yield Path(folder)


def sweep_scratch(settings: Settings) -> None:
    """Remove what killed jobs of this machine left behind."""
    for folder in _root(settings).glob("*-*"):
        pid = folder.name.partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _root(settings: Settings) -> Path:
    return settings.run_dir / "scratch"
