"""What a slot of the worker does with a ticket: claim a build or a few quick ones, have them run, and again, until
nothing is left for it.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from db.models import Build
from db.repositories import builds, explorations, leases
from db.repositories import queue as queues
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.node.presence import Presence
from worker.processes import slot_identity
from worker.running.runner import Runner

_LONG_SECONDS = 2.0
_TURN_SECONDS = 1.0
_HAND_SECONDS = 0.5
_MOST_IN_HAND = 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crew:
    """What the slots of one worker share. When `stopping` is set no slot claims again."""

    farm: Farm
    stopping: threading.Event
    presence: Presence
    runner: Runner


def work(crew: Crew, queue: str) -> None:
    """Run builds until this worker can take none: of `queue`, and of the others so that none waits for long."""
    turns, pace, found = _Turns(queue), _Pace(), True
    while found and not crew.stopping.is_set():
        with crew.runner.runs.claiming():
            found = _work_once(crew, queue, turns, pace)


def _work_once(crew: Crew, queue: str, turns: "_Turns", pace: "_Pace") -> bool:
    """Claim a hand and run it; whether there was one."""
    try:
        hand = _claim(crew, turns, pace)
    except SQLAlchemyError as error:
        _log.warning("nothing is claimed from %s, the database does not answer: %s", queue, error)
        return False
    if not hand:
        return False
    started, name = time.monotonic(), hand[0][0].queue
    crew.runner.run(hand, crew.stopping)
    seconds = time.monotonic() - started
    pace.took(name, len(hand), seconds)
    if seconds > _LONG_SECONDS:
        # What it has freed (memory, a licence) may be enough for two; this slot claims only for one.
        crew.farm.queue.send(name)
    return True


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


class _Pace:
    """How many builds of each queue a slot takes at once: one, and twice as many as last time while they are so quick
    that all end within `_HAND_SECONDS`. A claim costs more than the record of a build that does little.
    """

    def __init__(self) -> None:
        self.most: dict[str, int] = {}

    def took(self, queue: str, builds: int, seconds: float) -> None:
        """`builds` of the queue, taken at once, have taken `seconds`."""
        quick = int(_HAND_SECONDS * builds / max(seconds, 1e-9))
        self.most[queue] = max(1, min(quick, 2 * builds, _MOST_IN_HAND))


def _claim(crew: Crew, turns: _Turns, pace: _Pace) -> list[tuple[Build, int]]:
    """The next builds with the tokens of their leases; none when there are none for this node now."""
    offered = crew.presence.queues()
    if not offered:
        return []
    farm, name = crew.farm, crew.presence.name
    with farm.database.write() as session:
        hand = queues.claim_hand(
            session, turns.order(offered), name, slot_identity(), farm.settings.lease_seconds, pace.most
        )
        found = [(builds.get(session, one.build_id), one.token) for one in hand]
    if hand:
        turns.found(hand[0].queue)
        _tell(farm, found)
    return found


def _tell(farm: Farm, hand: Sequence[tuple[Build, int]]) -> None:
    """Say that these builds run, after the claim: who locks an exploration does so before it locks builds, and a claim
    locks builds, licences and nodes.
    """
    try:
        for exploration_id in sorted({build.exploration_id for build, _ in hand if build.exploration_id}):
            with farm.database.write() as session:
                explorations.lock(session, exploration_id)
                mine = {(build.id, token): build for build, token in hand if build.exploration_id == exploration_id}
                for one in leases.holds_all(session, list(mine)):
                    emit_build(farm, session, mine[one])
    except SQLAlchemyError as error:
        _log.warning("nobody is told that %d builds run: %s", len(hand), error)
