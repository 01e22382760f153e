"""Threads that keep the leases of all claimed builds and end those that were cancelled, are slow, take too much or must
stop.
"""

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from db.repositories import leases
from worker.farm import Farm
from worker.limits.disk import beyond
from worker.limits.group import Exceeded, is_busy
from worker.node.presence import Presence
from worker.running.giving_back import give_back
from worker.running.runs import Run, Runs

_LOOK_SECONDS = 0.5
_LOOKING_SHARE = 0.05
"""Part of the time that is spent on counting files, or processes, where there are many."""
_BEATS = 4
"""Renewals in the length of a lease."""
_GIVE_UP = 0.8
"""Part of a lease after which a worker that can not renew it ends its jobs: another may take them soon."""
_PATIENCE_SECONDS = 2.0
"""How long a claimed build waits for its turn: a slot takes several only while they are done in a fraction of that."""

_log = logging.getLogger(__name__)


class Watch:
    """Watches `runs` from `start` on. One query a look, one update a beat, however many run. What they use is looked at
    every `use_seconds`.
    """

    def __init__(
        self, farm: Farm, runs: Runs, presence: Presence, stopping: threading.Event, use_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._farm = farm
        self._use_seconds = use_seconds
        self._use_due = 0.0
        self._runs = runs
        self._presence = presence
        self._stopping = stopping
        self._lease = farm.settings.lease_seconds

    def start(self) -> None:
        # What the clock decides does not wait for a database that does not answer, nor memory for a count of files.
        seconds = min(_LOOK_SECONDS, self._lease / 16)
        for name, look, every in (
            ("clock", self.look_at_clock, seconds),
            ("watch", self.look, seconds),
            ("use", self.look_at_use, self._use_seconds),
            ("disk", self.look_at_disk, _LOOK_SECONDS),
        ):
            threading.Thread(target=self._runs.watch, args=(every, look), daemon=True, name=name).start()

    def look_at_clock(self, runs: Sequence[Run]) -> None:
        """End those that take too long, and those whose lease may soon be another's."""
        now = time.monotonic()
        for run in runs:
            limit = run.order.limits.timeout_s
            if run.executor is not None and run.started is not None and now - run.started > limit:
                if run.reason is None and is_busy(run.executor.cpu_s(), now - run.started):
                    run.stop(Exceeded("time", limit, now - run.started))
                run.end("timeout")
            if now - run.renewed > _GIVE_UP * self._lease:
                run.end("lost")

    def look_at_use(self, runs: Sequence[Run]) -> None:
        """End those that are beyond a limit of memory, processes or processor time; most builds end before they are
        looked at. Where looking takes long it is done less often.
        """
        started = time.monotonic()
        if started < self._use_due:
            return
        for run in runs:
            if run.executor is None or run.started is None or started - run.started < self._use_seconds:
                continue
            if (reached := run.executor.exceeded()) is not None:
                run.stop(reached)
        self._use_due = time.monotonic() + (time.monotonic() - started) / _LOOKING_SHARE

    def look_at_disk(self, runs: Sequence[Run]) -> None:
        """End those that have too much on the disk. A build with many files is looked at less often."""
        for run in runs:
            started = time.monotonic()
            if run.executor is None or started < run.disk_due:
                continue
            if (reached := beyond(Path(run.order.scratch), run.order.limits)) is not None:
                run.stop(reached)
            run.disk_due = time.monotonic() + (time.monotonic() - started) / _LOOKING_SHARE

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
