"""Two threads that keep the leases of all claimed builds and end those that were cancelled, are slow or must stop."""

import logging
import threading
import time
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from db.repositories import leases
from worker.farm import Farm
from worker.node.presence import Presence
from worker.running.giving_back import give_back
from worker.running.runs import Run, Runs

_LOOK_SECONDS = 0.5
_BEATS = 4
"""Renewals in the length of a lease."""
_GIVE_UP = 0.8
"""Part of a lease after which a worker that can not renew it ends its jobs: another may take them soon."""
_PATIENCE_SECONDS = 2.0
"""How long a claimed build waits for its turn: a slot takes several only while they are done in a fraction of that."""

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
        # Two threads: what the clock decides does not wait for a database that does not answer.
        for name, look in (("clock", self.look_at_clock), ("watch", self.look)):
            arguments = (min(_LOOK_SECONDS, self._lease / 16), look)
            threading.Thread(target=self._runs.watch, args=arguments, daemon=True, name=name).start()

    def look_at_clock(self, runs: Sequence[Run]) -> None:
        """End those that take too long, and those whose lease may soon be another's."""
        now = time.monotonic()
        for run in runs:
            limit = run.build.timeout_s
            if limit is not None and run.started is not None and now - run.started > limit:
                run.end("timeout")
            if now - run.renewed > _GIVE_UP * self._lease:
                run.end("lost")

    def look(self, runs: Sequence[Run]) -> None:
        """Ask the database and the operator about all of them."""
        self._check_leases([run for run in runs if run.reason is None])
        if self._stopping.is_set() or self._presence.gives_back():
            for run in runs:
                run.end("stopped")
        now = time.monotonic()
        give_back(self._farm, [run for run in runs if now - run.claimed > _PATIENCE_SECONDS and run.drop("late")])

    def _check_leases(self, runs: Sequence[Run]) -> None:
        lost = self._lost(runs, time.monotonic())
        for run in runs:
            if (run.order.build_id, run.order.token) in lost:
                run.end("lost")

    def _lost(self, runs: Sequence[Run], now: float) -> set[tuple[str, int]]:
        """Which leases are not ours any more, as far as the database answers."""
        pairs = {(run.order.build_id, run.order.token) for run in runs}
        due = any(now - run.renewed > self._lease / _BEATS for run in runs)
        try:
            if not due:
                with self._farm.database.read() as session:
                    return leases.lost(session, pairs)
            with self._farm.database.write() as session:
                held = leases.renew_all(session, pairs, self._lease)
                lost = leases.lost(session, pairs - held)
        except SQLAlchemyError as error:
            _log.warning("the database does not answer; %d leases are not renewed: %s", len(runs), error)
            return set()
        for run in runs:
            run.renewed = now
        return lost
