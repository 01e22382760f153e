"""Warm processes that run jobs, reused while they stay clean, with one spare so that nobody waits for a start."""

import signal
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.connection import Connection

from worker.limits.group import Backend, Counters, Exceeded
from worker.limits.table import Limits
from worker.running.nursery import LOST, Nursery
from worker.running.orders import Order, Reply

JOBS = "worker.running.jobs:open_jobs"
_KILL_SECONDS = 10.0
_END_SECONDS = 30.0


class Executor:
    """A guard with one process after the other, in a group that holds each job to its limits. One thread has it run
    jobs, any other may kill it or ask what it has used.
    """

    def __init__(self, nursery: Nursery, backend: Backend) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = nursery.fork(theirs)
        self._connection = Connection(ours.detach())
        self._group = backend.open(self._process.pid)
        self._held: Limits | None = None
        self._since = Counters()
        self.reached: Exceeded | None = None
        self._lock = threading.Lock()
        self._order: Order | None = None
        self._killed_at: float | None = None
        self.idle_since = time.monotonic()

    def run(self, order: Order) -> Reply | None:
        """Do one job, whose limits it was told to `hold`; None when the process ended before it replied: `exit_status`
        has how, and `reached` the limit that it went beyond.
        """
        with self._lock:
            self._order = order
        try:
            self._connection.send(replace(order, group=self._group, since=self._since))
            reply: Reply | None = self._connection.recv()
        except (EOFError, OSError):
            reply = None
            self.reached = self.exceeded()
        with self._lock:
            self._order = None
            killed = self._killed_at is not None
        if reply is None or killed:
            self.close()
        self.idle_since = time.monotonic()
        return reply

    def hold(self, limits: Limits) -> None:
        """Hold the next job to these. Raises OSError where that can not be: it may still have more memory than that."""
        if limits != self._held:
            self._group.hold(limits)
            self._held = limits
        self._since = self._group.begin()

    def exceeded(self) -> Exceeded | None:
        """The limit that its job has gone beyond so far, of those that its group counts."""
        assert self._held is not None
        try:
            return self._group.exceeded(self._held, self._since)
        except OSError:  # it has ended, and its group with it
            return None

    def cpu_s(self) -> float:
        """Seconds of processor time that its job has used so far."""
        try:
            return self._group.counters().cpu_s - self._since.cpu_s
        except OSError:  # it has ended
            return 0.0

    def kill(self, order: Order) -> None:
        """End the job and everything it started; nothing if it has ended. Returns at once; call again if it lasts."""
        with self._lock:
            if self._order is not order:
                return
            now = time.monotonic()
            self._killed_at = self._killed_at or now
            self._group.kill()
            # The guard kills the rest; it is killed itself only if it hangs.
            hangs = now - self._killed_at > _KILL_SECONDS
            self._process.send_signal(signal.SIGKILL if hangs else signal.SIGTERM)

    def close(self) -> None:
        """Have the process end, and wait for that."""
        self._connection.close()
        if not self._process.wait(_END_SECONDS):
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(_END_SECONDS)
        self._group.remove()

    @property
    def pid(self) -> int:
        """Of its guard."""
        return self._process.pid

    @property
    def closed(self) -> bool:
        """Whether it takes no more jobs."""
        return self._connection.closed or self._process.returncode is not None

    @property
    def exit_status(self) -> int:
        """Of a closed one: the job's, or 128 + the signal that ended it."""
        code = self._process.returncode
        if code is None:  # no signal could end it
            code = LOST
        return code if code >= 0 else 128 - code


class Executors:
    """The executors of one worker: as many as run jobs, and one that waits."""

    def __init__(self, environment: Mapping[str, str], backend: Backend, target: str = JOBS) -> None:
        self.backend = backend
        self._nursery = Nursery(target, environment)
        self._lock = threading.Lock()
        self._idle: list[Executor] = []
        self._starting = False
        # The kernel ends the nursery when the thread that started it ends: one thread starts all.
        self._starter = ThreadPoolExecutor(1, "executors")

    def warm(self) -> None:
        """See to a spare one; returns at once."""
        with self._lock:
            if self._idle or self._starting:
                return
            self._starting = True
        self._starter.submit(self._start_spare)

    def take(self, limits: Limits) -> Executor:
        """An executor for a job with these limits; give it back afterwards."""
        executor = self._pop() or self._starter.submit(self._pop_or_start).result()
        try:
            executor.hold(limits)
        except OSError:
            executor.close()
            executor = self._starter.submit(self._start).result()
            executor.hold(limits)
        return executor

    def give_back(self, executor: Executor) -> None:
        """Keep it for another job, unless it is closed."""
        if executor.closed:
            return
        with self._lock:
            self._idle.append(executor)

    def trim(self, seconds: float) -> None:
        """End those that had nothing to do for so long, but for one."""
        longest = time.monotonic() - seconds
        with self._lock:
            spare = self._idle[-1:]
            old = [e for e in self._idle[:-1] if e.idle_since < longest]
            self._idle = [e for e in self._idle[:-1] if e.idle_since >= longest] + spare
        for executor in old:
            executor.close()

    def close(self) -> None:
        """End those that wait; running ones are ended by who runs them."""
        self._starter.shutdown()
        with self._lock:
            idle, self._idle = self._idle, []
        for executor in idle:
            executor.close()
        self._nursery.close()

    def _pop(self) -> Executor | None:
        with self._lock:
            while self._idle:
                executor = self._idle.pop()
                if not executor.closed:
                    return executor
        return None

    def _pop_or_start(self) -> Executor:
        # A spare that was being started when the caller came is there by now.
        return self._pop() or self._start()

    def _start(self) -> Executor:
        return Executor(self._nursery, self.backend)

    def _start_spare(self) -> None:
        try:
            executor = self._start()
            with self._lock:
                self._idle.insert(0, executor)
        finally:
            self._starting = False
