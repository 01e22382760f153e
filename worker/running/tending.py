"""What a worker does beside its builds, now and then: announce it, look for lost work, start sweeps, let expire."""

import logging
import os
import signal
import threading
import time

from db.repositories import licences
from worker.node.networks import Networks
from worker.processes import identity
from worker.retention.schedule import Schedule
from worker.running.reaper import reap, recover
from worker.running.work import Crew

_IDLE_SECONDS = 60.0
"""Executors that had nothing to do for so long are ended, but for one; so is a worker that drains."""

_log = logging.getLogger(__name__)


class Tending:
    """A thread of one worker, from `start` on. With `ends_when_idle` the worker ends when it has had nothing to do."""

    def __init__(self, crew: Crew, *, ends_when_idle: bool) -> None:
        self._crew = crew
        self._ends_when_idle = ends_when_idle
        self._busy_at = time.monotonic()
        self._step = recover
        self._retention = Schedule(crew.farm)
        self._networks = Networks(crew.farm)
        self._said = False
        self._wake = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True, name="tend").start()

    def wake(self) -> None:
        """Do it now: something has changed, or the worker stops."""
        self._wake.set()

    def _run(self) -> None:
        crew, seconds = self._crew, self._crew.farm.settings.reap_seconds
        while not crew.stopping.is_set():
            crew.farm.bus.report_alive(identity(), 3 * seconds)
            try:
                self._tend()
            except Exception:  # noqa: BLE001  # without this thread a worker looks healthy and reaps nobody
                _log.exception("tending the farm failed; tried again in %s s", seconds)
            self._say_that_it_drains()
            if self._is_over():
                os.kill(os.getpid(), signal.SIGTERM)
            self._wake.wait(seconds)
            self._wake.clear()

    def _tend(self) -> None:
        crew = self._crew
        self._announce()
        crew.runner.executors.warm()
        self._step(crew.farm)
        self._step = reap
        crew.runner.scratch.sweep()
        crew.runner.executors.backend.sweep()
        if crew.farm.settings.schedule:
            from worker.sweeps.scheduler import tick  # noqa: PLC0415  # not before the worker is up

            tick(crew.farm)
        self._retention.tick()
        self._networks.tick()
        crew.runner.executors.trim(_IDLE_SECONDS)

    def _announce(self) -> None:
        farm = self._crew.farm
        self._crew.presence.announce()
        if farm.settings.licences and self._step is recover:
            with farm.database.write() as session:
                licences.ensure_defaults(session, farm.settings.licences)

    def _say_that_it_drains(self) -> None:
        # Here, as a signal's handler must not log: what it interrupts may hold the log's lock.
        if self._crew.presence.drains and not self._said:
            _log.warning("asked to drain: it takes no more builds, and ends when those that run have ended")
            self._said = True

    def _is_over(self) -> bool:
        """Whether this worker has nothing more to do and nobody wants it to wait."""
        now = time.monotonic()
        if self._crew.runner.runs.any():
            self._busy_at = now
            return False
        return self._crew.presence.drains or (self._ends_when_idle and now - self._busy_at > _IDLE_SECONDS)
