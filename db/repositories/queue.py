"""The queue: which build a worker takes next.

Owners take turns, the one who had least first (`shares`). Within an owner the least tag goes first (`turns`). Builds
that can not be taken now are passed over: their time has not come, their key runs elsewhere, their licence has no
token, the node no room, or as many of their owner's run as may (`allowances`). Of a queue's builds only the heads of
its *lanes* are looked at (one lane: one owner, one request), so that no claim costs more than a few probes of an index.

Locks, always in this order, so that claims wait for each other but never in a circle: the build (never waited for), its
licence, its node, what its owner may run, its key, the owner's share. A build that was not taken after all gives back
what was locked for it. That it waits for room is noted at the end, and only where nobody else has locked the node.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.models import Build, Stage
from db.repositories import allowances, lanes, licences, nodes, rooms, shares
from db.repositories.lanes import Head
from db.repositories.waiting import why_waiting
from db.types import utcnow

__all__ = ["Claimed", "claim", "claim_hand", "lengths", "why_waiting"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A build that now runs under the lease with this token."""

    build_id: str
    token: int
    stage: Stage
    queue: str


def claim(session: Session, queues: Sequence[str], node: str, owner: str, seconds: float) -> Claimed | None:
    """Take the next build that `node` can run from the first of `queues` that has one, with a lease of `seconds` for
    `owner`. None when there is none, or the node is not announced, draining or paused.
    """
    hand = claim_hand(session, queues, node, owner, seconds)
    return hand[0] if hand else None


def claim_hand(
    session: Session,
    queues: Sequence[str],
    node: str,
    owner: str,
    seconds: float,
    most: Mapping[str, int] | None = None,
) -> list[Claimed]:
    """As `claim`, and with the build those that follow it in its lane, up to as many in all as `most` says for the
    queue (1 where it says nothing). `owner` runs one after the other, so they take the room of one; builds that need a
    licence are taken singly.
    """
    if not nodes.is_active(session, node):
        return []
    claiming = _Claiming(session, node, owner, seconds)
    hands = (claiming.claim_from(queue, (most or {}).get(queue, 1)) for queue in queues)
    hand = next((hand for hand in hands if hand), list[Claimed]())
    claiming.note_who_waits()
    return hand


@dataclass(frozen=True, slots=True)
class _Claiming:
    """Who claims: `owner` on `node`, for a lease of `seconds`."""

    session: Session
    node: str
    owner: str
    seconds: float
    crowded_out: list[Head] = field(default_factory=list[Head])
    """What would start if the node had room."""

    def claim_from(self, queue: str, most: int) -> list[Claimed]:
        heads = lanes.by_owner(self.session, queue)
        several = len(heads) > 1
        served = shares.served(self.session, queue, heads) if several else dict.fromkeys(heads, 0.0)
        for name in sorted(heads, key=lambda name: (served[name], name)):
            may = allowances.left(self.session, name, most)
            hand = self._claim_of(heads[name], may) if may else []
            if hand and several:
                shares.charge(self.session, queue, name, served[name], len(hand))
            if hand:
                return hand
        return []

    def _claim_of(self, heads: Sequence[Head], most: int) -> list[Claimed]:
        """Take the next builds of one owner."""
        for head in lanes.in_turn(self.session, heads):
            if not self._has_token(head):
                continue
            if not self._has_room(head):
                self.crowded_out.append(head)
            elif hand := self._take(head, 1 if head.licence else most):
                return hand
        return []

    def note_who_waits(self) -> None:
        """Have room kept for what found none. At the end: who holds the node must not wait for a licence any more."""
        waiting = [head for head in self.crowded_out if lanes.is_due(self.session, head)]
        if waiting:
            rooms.wait(self.session, self.node, waiting)

    def _take(self, lane: Head, most: int) -> list[Claimed]:
        """Take the head of a lane; when another worker is faster, the next one that no worker has its hand on."""
        while True:
            try:
                with self.session.begin_nested() as savepoint:
                    found = lanes.lock_first(self.session, lane, most)
                    if found and self._has_token(lane, lock=True) and self._has_room(lane, lock=True):
                        found = found[: allowances.left(self.session, lane.owner, len(found), lock=True)]
                        if found:
                            return self._start(found, lane)
                    savepoint.rollback()
                    return []
            except IntegrityError:  # a twin began in between: it is seen to run now, and this build passed over
                continue

    def _has_token(self, lane: Head, *, lock: bool = False) -> bool:
        return lane.licence is None or licences.has_token(self.session, lane.licence, lock=lock)

    def _has_room(self, lane: Head, *, lock: bool = False) -> bool:
        return lane.is_light or rooms.has_room(self.session, self.node, lane, lock=lock)

    def _start(self, found: Sequence[Build], lane: Head) -> list[Claimed]:
        now = utcnow()
        for build in found:
            build.state, build.node, build.not_before = "running", self.node, None
            build.started_at, build.finished_at, build.attempt = now, None, build.attempt + 1
            build.lease_owner, build.lease_expires = self.owner, now + timedelta(seconds=self.seconds)
            build.lease_token += 1
        if not lane.is_light:
            rooms.stop_waiting(self.session, self.node, lane)
        self.session.flush()
        return [Claimed(build.id, build.lease_token, build.stage, build.queue) for build in found]


def lengths(session: Session) -> dict[str, int]:
    """Builds that wait in each queue that is not empty, without those whose time has not come."""
    ready = or_(Build.not_before.is_(None), Build.not_before <= utcnow())
    count = select(Build.queue, func.count()).where(Build.state == "queued", ready).group_by(Build.queue)
    return dict(session.execute(count).all())
