"""The Celery application and its tickets.

The database says what there is to do; a ticket `millrace.work(queue)` only wakes a worker that serves the queue. A lost
ticket is replaced by the reaper, one too many costs a query.
"""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from redis import RedisError
from sqlalchemy.orm import Session

from db.engine import after_commit
from worker.settings import Settings

if TYPE_CHECKING:
    from celery import Celery  # pyright: ignore[reportMissingTypeStubs]

WORK = "millrace.work"
_TRANSPORT = "worker.queue.transport:Transport"
MANY_TICKETS = 256
"""A queue that has as many needs no more: every slot that takes one works until the queue is empty."""
_COUNTED_SECONDS = 1.0
_AWAY_SECONDS = 5.0

_log = logging.getLogger(__name__)

Send = Callable[[str], None]
"""`send(queue)` puts a ticket into that queue; raises OSError when the broker is away."""
Length = Callable[[str], int]
"""`length(queue)`: tickets in that queue; raises RedisError when the broker is away."""


def make_celery(settings: Settings) -> "Celery":
    """The application of one process."""
    from celery import Celery  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    from kombu.transport import TRANSPORT_ALIASES  # noqa: PLC0415

    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), _TRANSPORT))
    app = Celery("millrace", broker=_broker_url(settings.redis), set_as_current=False)
    app.conf.update(  # pyright: ignore[reportUnknownMemberType]
        # A ticket is spent when it is taken: leases, not messages, say who works on what.
        task_acks_late=False,
        task_ignore_result=True,
        task_default_queue="millrace",
        task_create_missing_queues=True,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,  # a ticket that waits in a busy worker could have woken an idle one
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={"socket_connect_timeout": 2, "max_retries": 1},
    )
    return app


def _broker_url(url: str) -> str:
    return url.replace("unix://", "redis+socket://", 1)


def celery_send(settings: Settings) -> Send:
    """Sends through Celery, without waiting for a broker that is away."""
    app = cache(lambda: make_celery(settings))
    first = threading.Lock()

    def send(queue: str) -> None:
        # Loaded with the first ticket: the API starts a quarter of a second sooner. By one thread: Celery puts another
        # module in its place while it is imported.
        with first:
            celery = app()
        from kombu.exceptions import OperationalError  # noqa: PLC0415

        try:
            celery.send_task(  # pyright: ignore[reportUnknownMemberType]
                WORK, args=[queue], queue=queue, retry=False, ignore_result=True
            )
        except OperationalError as error:
            raise ConnectionError(str(error)) from error

    return send


class Queue:
    """Sends tickets once the transaction that made the work is durable. Safe to share between threads."""

    def __init__(self, send: Send, length: Length) -> None:
        self._send = send
        self._length = length
        self._counted: dict[str, tuple[float, int]] = {}
        self._away_until = 0.0

    def announce(self, session: Session, queue: str) -> None:
        """Wake a worker for `queue` after the commit. Never fails: without a broker the reaper sends it later."""
        after_commit(session, partial(self._send_later, queue))

    def send(self, queue: str) -> bool:
        """Put a ticket into `queue` now, unless it has many; False when the broker is away."""
        if time.monotonic() < self._away_until:
            return False
        try:
            if self._tickets(queue) < MANY_TICKETS:
                self._send(queue)
        except (RedisError, OSError) as error:
            # Not asked again at once: a hundred requests would each wait for the same answer.
            self._away_until = time.monotonic() + _AWAY_SECONDS
            _log.warning("the broker does not answer; the reaper tops up %s: %s", queue, error)
            return False
        return True

    def _send_later(self, queue: str) -> None:
        self.send(queue)

    def _tickets(self, queue: str) -> int:
        """How many wait there, counted a moment ago, and those sent since."""
        counted, number = self._counted.get(queue, (0.0, 0))
        if time.monotonic() - counted > _COUNTED_SECONDS:
            counted, number = time.monotonic(), self._length(queue)
        self._counted[queue] = (counted, number + 1)
        return number
