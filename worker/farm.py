"""What every part of the service works with: settings, database, store, broker and bus, made once per process."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from db.engine import Database, after_commit
from db.repositories import events
from worker.queue.broker import Queue, Send, celery_send
from worker.queue.bus import Bus
from worker.settings import Settings
from worker.store.artifacts import ArtifactStore
from worker.store.opening import open_store

_WOKEN = "explorations whose followers are woken"


@dataclass(frozen=True, slots=True)
class Farm:
    """The handles of one process."""

    settings: Settings
    database: Database
    store: ArtifactStore
    queue: Queue
    bus: Bus

    def emit(self, session: Session, exploration_id: str, kind: str, data: dict[str, Any]) -> None:
        """Append an event; followers are woken once it is committed."""
        events.append(session, exploration_id, kind, data)
        woken: set[str] = session.info.setdefault(_WOKEN, set())
        if exploration_id not in woken:
            woken.add(exploration_id)
            after_commit(session, lambda: self.bus.notify(exploration_id))

    def close(self) -> None:
        self.database.close()
        self.bus.close()


def open_farm(settings: Settings, send: Send | None = None) -> Farm:
    """Handles for `settings`; `send` replaces the Celery broker. Nothing is contacted yet."""
    database = Database(settings.database)
    bus = Bus(settings.redis)
    return Farm(
        settings=settings,
        database=database,
        store=open_store(settings),
        queue=Queue(send or celery_send(settings), _no_tickets if send else bus.tickets),
        bus=bus,
    )


def _no_tickets(_queue: str) -> int:
    """A `send` of one's own has no queue to look into."""
    return 0
