"""Processes that tests wait for."""

import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

PATIENCE = 180.0
"""Seconds that a test waits for what must happen: only where it does not happen are they spent."""


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """The first true value of `condition`, however slow the machine is; the test fails where it never comes.

    What takes long is asked for less often, up to ten times a second: each question may be one to a service, whose
    time it takes.
    """
    since = time.monotonic()
    while (waited := time.monotonic() - since) < seconds:
        value = condition()
        if value:
            return value
        time.sleep(min(0.1, max(0.02, waited / 20)))
    pytest.fail(f"waited {seconds} s for {what}")


def gone(pid: int) -> bool:
    """Whether the process has ended, buried or not: it may do so between two questions about it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def until(condition: Callable[[], object]) -> None:
    """Wait a minute for it."""
    wait_for(condition, 60, "it")
