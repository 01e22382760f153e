"""One thread that sends what running builds write into their logs to Redis, where the API reads it."""

import logging
import threading
import time
from collections.abc import Sequence

import redis

from worker.queue.livelog import LiveLog
from worker.running.runs import Run, Runs

_SEND_SECONDS = 0.5
_SILENT_SECONDS = 1.0
"""Builds that end sooner are read from the store: most are quick, and nobody watches them."""
_MOST_AT_ONCE = 1 << 20

_log = logging.getLogger(__name__)


class LogSender:
    """Sends the logs of `runs` from `start` on."""

    def __init__(self, logs: LiveLog, runs: Runs) -> None:
        self._logs = logs
        self._runs = runs

    def start(self) -> None:
        threading.Thread(target=self._runs.watch, args=(_SEND_SECONDS, self.look), daemon=True, name="logs").start()

    def look(self, runs: Sequence[Run]) -> None:
        """Send what is new."""
        now = time.monotonic()
        for run in runs:
            if run.started is not None and now - run.started > _SILENT_SECONDS:
                self._send(run)

    def finish(self, run: Run) -> None:
        """Send the rest of a run that has ended, if any of it was sent; the caller has taken it out of the runs."""
        if run.sent:
            self._send(run)

    def _send(self, run: Run) -> None:
        if not run.log.exists():  # its executor is only starting
            return
        try:
            with run.log.open("rb") as file:
                file.seek(run.sent)
                while data := file.read(_MOST_AT_ONCE):
                    self._append(run, data)
        except (redis.RedisError, OSError) as error:
            _log.warning("the log of %s is not shown live: %s", run.order.build_id, error)

    def _append(self, run: Run, data: bytes) -> None:
        if run.sent == 0:
            self._logs.begin(run.order.build_id)
        self._logs.append(run.order.build_id, data)
        run.sent += len(data)
