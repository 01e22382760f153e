"""What a stage function is given besides the farm: its build, its lease, where to write and how to speak."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from db.models import Build


@dataclass(frozen=True, slots=True)
class JobContext:
    """One run of one build.

    `log(line)` adds a line to the build's log; `scratch` is an empty folder that is gone afterwards; `held()` asks the
    database whether the lease with `token` is still ours: long work stops where it is not.
    """

    build: Build
    token: int
    log: Callable[[str], None]
    scratch: Path
    held: Callable[[], bool]
