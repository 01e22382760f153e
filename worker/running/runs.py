"""The builds that a worker runs at this moment, shared by the slots that run them and the threads that watch them."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from worker.running.executors import Executor
from worker.running.orders import Order

_log = logging.getLogger(__name__)

Reason = Literal["lost", "timeout", "stopped"]
"""Why the worker ended a job: its lease is gone, it took too long, or the worker or its node is to stop."""


@dataclass(eq=False, slots=True)
class Run:
    """One build under way. `renewed` is when its lease was last known to be ours, `sent` how much of its log is out."""

    order: Order
    executor: Executor
    timeout_s: float | None
    started: float = field(default_factory=time.monotonic)
    renewed: float = field(default_factory=time.monotonic)
    reason: Reason | None = None
    sent: int = 0

    @property
    def log(self) -> Path:
        return Path(self.order.log)

    def end(self, reason: Reason) -> None:
        """Kill it, unless it has ended by itself; the first reason counts."""
        self.reason = self.reason or reason
        self.executor.kill(self.order)


class Runs:
    """A set of runs. Safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._runs: set[Run] = set()

    def add(self, run: Run) -> None:
        with self._changed:
            self._runs.add(run)
            self._changed.notify_all()

    def remove(self, run: Run) -> None:
        with self._changed:
            self._runs.discard(run)

    def now(self) -> list[Run]:
        with self._changed:
            return list(self._runs)

    def watch(self, seconds: float, look: Callable[[list[Run]], None]) -> None:
        """Call `look` every `seconds` while something runs, for ever; sleeps otherwise."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._runs))
            try:
                look(self.now())
            except Exception:  # noqa: BLE001  # without this thread leases run out and hung jobs run for ever
                _log.exception("looking after the builds failed; tried again in %s s", seconds)
            time.sleep(seconds)
