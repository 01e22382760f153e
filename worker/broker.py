"""The Celery application and how its messages are sent. A message names a row; the row says what is to be done."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from kombu.exceptions import OperationalError
from sqlalchemy.orm import Session

from db.engine import Database, after_commit
from db.models import Build, Exploration
from db.repositories import leases
from db.types import utcnow
from worker.settings import Settings

if TYPE_CHECKING:
    from celery import Celery  # pyright: ignore[reportMissingTypeStubs]

QUEUES = ("lower", "search", "simulate", "csim")
_VISIBILITY_SECONDS = 30 * 24 * 3600
_RESEND_AFTER = timedelta(minutes=10)

_log = logging.getLogger(__name__)

Send = Callable[[str, str], None]
"""`send(stage, id)` puts a message into the queue of that stage; raises `OperationalError` when the broker is away."""


def make_celery(settings: Settings) -> "Celery":
    """The application of one process."""
    from celery import Celery  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    app = Celery("millrace", broker=_broker_url(settings.redis), set_as_current=False)
    app.conf.update(  # pyright: ignore[reportUnknownMemberType]
        task_acks_late=True,
        task_ignore_result=True,
        task_default_queue="lower",
        task_routes={f"millrace.{queue}": {"queue": queue} for queue in QUEUES},
        task_store_errors_even_if_ignored=False,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        # A task that outlives this is given to a second worker while it still runs; our leases decide that instead.
        broker_transport_options={
            "visibility_timeout": _VISIBILITY_SECONDS,
            "socket_connect_timeout": 2,
            "max_retries": 1,
        },
    )
    return app


def _broker_url(url: str) -> str:
    return url.replace("unix://", "redis+socket://", 1)


def celery_send(settings: Settings) -> Send:
    """Sends through Celery, without waiting for a broker that is away."""
    # Loaded with the first message: the API starts a quarter of a second sooner.
    app = cache(lambda: make_celery(settings))

    def send(stage: str, key: str) -> None:
        app().send_task(  # pyright: ignore[reportUnknownMemberType]
            f"millrace.{stage}", args=[key], queue=stage, retry=False, ignore_result=True
        )

    return send


class Queue:
    """Sends work, once, after the transaction that decided on it."""

    def __init__(self, database: Database, send: Send) -> None:
        self._database = database
        self._send = send

    def submit(self, session: Session, row: Exploration | Build) -> None:
        """Have a worker take up `row`, unless one holds it or a message for it is under way."""
        if row.lease_owner is not None:
            return
        if row.enqueued_at is not None and row.enqueued_at > utcnow() - _RESEND_AFTER:
            return
        stage = row.stage if isinstance(row, Build) else "search"
        table, key = type(row), row.id
        after_commit(session, lambda: self._deliver(table, stage, key))

    def _deliver(self, table: leases.LeasedTable, stage: str, key: str) -> None:
        # Mark first: a worker that finishes before the mark would have it look as if a message were under way.
        with self._database.write() as session:
            leases.mark_enqueued(session, table, key)
        try:
            self._send(stage, key)
        except (OperationalError, OSError) as error:
            _log.warning("the broker does not answer; %s %s is sent again by the reaper: %s", stage, key, error)
            with self._database.write() as session:
                leases.forget_message(session, table, key)
