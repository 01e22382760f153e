"""Orders for executors, with more than enough of everything."""

import os
from pathlib import Path

from worker.limits.table import Limits
from worker.running.orders import Order

LIMITS = Limits(1.0, 8.0, 3600.0, 3600.0, 1000, 10.0, 100_000)
_SUPPORT = Path(__file__).parent


def order(build_id: str, folder: Path, token: int = 1, stage: str = "csim") -> Order:
    """One whose log and scratch folder are in `folder`."""
    return Order(build_id, token, stage, str(folder / "log"), str(folder / "scratch" / build_id), LIMITS)


def environment() -> dict[str, str]:
    """With which an executor finds the jobs of tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(_SUPPORT.parents[1]), str(_SUPPORT)])}
