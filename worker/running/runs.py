"""The builds that a worker runs at this moment, shared by the slots that run them and the threads that watch them."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from db.models import Build
from worker.limits.group import Exceeded
from worker.running.executors import Executor
from worker.running.orders import Order

_log = logging.getLogger(__name__)

Reason = Literal["lost", "timeout", "limit", "stopped", "late"]
"""Why the worker ended a job: its lease is gone, it took too long without using its processors, it went beyond a limit,
the worker or its node is to stop, or it waited for long behind another and is for somebody else to run.
"""


@dataclass(eq=False, slots=True)
class Run:
    """One build that a slot has claimed: it waits for its turn, then for an executor, which runs it.

    `renewed` is when its lease was last known to be ours, `sent` how much of its log is out, `reached` the limit that
    ended it, and `disk_due` when what it has on the disk is worth counting again.
    """

    build: Build
    order: Order
    has_turn: bool = False
    executor: Executor | None = None
    claimed: float = field(default_factory=time.monotonic)
    started: float | None = None
    renewed: float = field(default_factory=time.monotonic)
    reason: Reason | None = None
    sent: int = 0
    reached: Exceeded | None = None
    disk_due: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def log(self) -> Path:
        return Path(self.order.log)

    def take_turn(self) -> None:
        """It is the next one: it waits for no other any more, though its executor may have to be started."""
        with self._lock:
            self.has_turn = True

    def begin(self, executor: Executor) -> bool:
        """Have `executor` run it next; False when it was ended before its turn came."""
        with self._lock:
            if self.reason is None:
                self.executor, self.started = executor, time.monotonic()
            return self.reason is None

    def end(self, reason: Reason) -> None:
        """Kill it, unless it has ended by itself; the first reason counts."""
        with self._lock:
            self.reason = self.reason or reason
            if self.executor is not None:
                self.executor.kill(self.order)

    def stop(self, reached: Exceeded) -> None:
        """End it for what it has used."""
        with self._lock:
            self.reached = self.reached or reached
        self.end("limit")

    def drop(self, reason: Reason) -> bool:
        """End it if its turn has not come; whether that is so."""
        with self._lock:
            if self.has_turn or self.reason is not None:
                return False
            self.reason = reason
            return True


class Runs:
    """A set of runs. Safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._runs: set[Run] = set()
        self._claiming = 0

    @contextmanager
    def claiming(self) -> Generator[None]:
        """While a slot claims and runs what it finds: in between, a build runs for the farm and is no run here yet."""
        with self._changed:
            self._claiming += 1
        try:
            yield
        finally:
            with self._changed:
                self._claiming -= 1

    def any(self) -> bool:
        """Whether something runs, or may be about to."""
        with self._changed:
            return bool(self._runs or self._claiming)

    def add(self, runs: Iterable[Run]) -> None:
        with self._changed:
            self._runs.update(runs)
            self._changed.notify_all()

    def remove(self, runs: Iterable[Run]) -> None:
        with self._changed:
            self._runs.difference_update(runs)

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
