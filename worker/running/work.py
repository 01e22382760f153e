"""What a slot of the worker does with a ticket: claim a build, have it run, and again, until nothing is left for it."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from db.models import Build
from db.repositories import builds
from db.repositories import queue as queues
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.node.presence import Presence
from worker.running.executors import Executors
from worker.running.logsender import LogSender
from worker.running.processes import identity
from worker.running.runner import run_build
from worker.running.runs import Runs

_LONG_SECONDS = 2.0
_TURN_SECONDS = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crew:
    """What the slots of one worker share. When `stopping` is set no slot claims again."""

    farm: Farm
    stopping: threading.Event
    executors: Executors
    presence: Presence
    runs: Runs
    logs: LogSender


def work(crew: Crew, queue: str) -> None:
    """Run builds until this worker can take none: of `queue`, and of the others so that none waits for long."""
    turns = _Turns(queue)
    while not crew.stopping.is_set():
        try:
            taken = _claim(crew, turns)
        except SQLAlchemyError as error:
            _log.warning("nothing is claimed from %s, the database does not answer: %s", queue, error)
            return
        if taken is None:
            return
        build, token = taken
        started = time.monotonic()
        run_build(crew.farm, crew.executors, crew.runs, crew.logs, build, token)
        if time.monotonic() - started > _LONG_SECONDS:
            # What it has freed (memory, a licence) may be enough for two; this slot claims only one.
            crew.farm.queue.send(build.queue)


class _Turns:
    """In which order a slot looks into its queues: where it found something last, but once a second the next one."""

    def __init__(self, queue: str) -> None:
        self._first = queue
        self._since = time.monotonic()

    def order(self, queues: Sequence[str]) -> list[str]:
        at = queues.index(self._first) if self._first in queues else 0
        if time.monotonic() - self._since > _TURN_SECONDS:
            self._since = time.monotonic()
            at += 1
        return [*queues[at:], *queues[:at]]

    def found(self, queue: str) -> None:
        self._first = queue


def _claim(crew: Crew, turns: _Turns) -> tuple[Build, int] | None:
    """The next build and its lease's token; None when there is none for this node now."""
    offered = crew.presence.queues()
    if not offered:
        return None
    farm = crew.farm
    with farm.database.write() as session:
        claimed = queues.claim(
            session, turns.order(offered), crew.presence.name, identity(), farm.settings.lease_seconds
        )
        if claimed is None:
            return None
        build = builds.get(session, claimed.build_id)
        turns.found(claimed.queue)
        emit_build(farm, session, build)
        return build, claimed.token
