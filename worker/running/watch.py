"""One thread that keeps the leases of all running builds and ends those that were cancelled, are slow or must stop."""

import logging
import threading
import time
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from db.repositories import leases
from worker.farm import Farm
from worker.node.presence import Presence
from worker.running.runs import Run, Runs

_LOOK_SECONDS = 0.5
_BEATS = 4
"""Renewals in the length of a lease."""
_GIVE_UP = 0.8
"""Part of a lease after which a worker that can not renew it ends its jobs: another may take them soon."""

_log = logging.getLogger(__name__)


class Watch:
    """Watches `runs` from `start` on. One query a look, one update a beat, however many run."""

    def __init__(self, farm: Farm, runs: Runs, presence: Presence, stopping: threading.Event) -> None:
        self._farm = farm
        self._runs = runs
        self._presence = presence
        self._stopping = stopping
        self._lease = farm.settings.lease_seconds

    def start(self) -> None:
        arguments = (min(_LOOK_SECONDS, self._lease / 16), self.look)
        threading.Thread(target=self._runs.watch, args=arguments, daemon=True, name="watch").start()

    def look(self, runs: Sequence[Run]) -> None:
        """Look at all of them once."""
        now = time.monotonic()
        for run in runs:
            if run.timeout_s is not None and now - run.started > run.timeout_s:
                run.end("timeout")
        if self._stopping.is_set() or self._presence.gives_back():
            for run in runs:
                run.end("stopped")
        self._check_leases(runs, now)

    def _check_leases(self, runs: Sequence[Run], now: float) -> None:
        held = self._held(runs, now)
        for run in runs:
            lost = held is not None and (run.order.build_id, run.order.token) not in held
            if lost or now - run.renewed > _GIVE_UP * self._lease:
                run.end("lost")

    def _held(self, runs: Sequence[Run], now: float) -> set[tuple[str, int]] | None:
        """Which leases are still ours; None when the database does not answer."""
        pairs = [(run.order.build_id, run.order.token) for run in runs]
        due = any(now - run.renewed > self._lease / _BEATS for run in runs)
        try:
            if not due:
                with self._farm.database.read() as session:
                    return leases.holds_all(session, pairs)
            with self._farm.database.write() as session:
                held = leases.renew_all(session, pairs, self._lease)
        except SQLAlchemyError as error:
            _log.warning("the database does not answer; %d leases are not renewed: %s", len(runs), error)
            return None
        for run in runs:
            run.renewed = now
        return held
