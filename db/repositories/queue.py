"""The queue: which build a worker takes next.

Owners take turns, the one who had least first (`shares`). Within an owner the least tag goes first (`turns`). Builds
that can not be taken now are passed over: their time has not come, their key runs elsewhere, their licence has no token
or the node no room. Of a queue's builds only the heads of its *lanes* are looked at (one lane: one owner, one request),
so that no claim costs more than a few probes of an index.

Locks, always in this order, so that claims wait for each other but never in a circle: the build (never waited for), its
licence, its node, its key, the owner's share. A build that was not taken after all gives back what was locked for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.models import Build, Stage
from db.repositories import lanes, licences, nodes, rooms, shares
from db.repositories.lanes import Head
from db.repositories.waiting import why_waiting
from db.types import utcnow

__all__ = ["Claimed", "claim", "lengths", "why_waiting"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A build that now runs under the lease with this token."""

    build_id: str
    token: int
    stage: Stage
    queue: str


def claim(session: Session, queues: Sequence[str], node: str, owner: str, seconds: float) -> Claimed | None:
    """Take the next build that `node` can run from the first of `queues` that has one, with a lease of `seconds` for
    the worker `owner`. None when there is none, or the node is not announced, draining or paused.
    """
    if not nodes.is_active(session, node):
        return None
    worker = _Worker(session, node, owner, seconds)
    return next((found for queue in queues if (found := worker.claim_from(queue)) is not None), None)


@dataclass(frozen=True, slots=True)
class _Worker:
    """Who claims: a worker called `owner` on `node`, for a lease of `seconds`."""

    session: Session
    node: str
    owner: str
    seconds: float

    def claim_from(self, queue: str) -> Claimed | None:
        heads = lanes.by_owner(self.session, queue)
        several = len(heads) > 1
        served = shares.served(self.session, queue, heads) if several else dict.fromkeys(heads, 0.0)
        for name in sorted(heads, key=lambda name: (served[name], name)):
            claimed = self._claim_of(heads[name])
            if claimed is not None and several:
                shares.charge(self.session, queue, name, served[name])
            if claimed is not None:
                return claimed
        return None

    def _claim_of(self, heads: Sequence[Head]) -> Claimed | None:
        """Take the next build of one owner."""
        crowded_out: list[Head] = []
        claimed: Claimed | None = None
        for head in lanes.in_turn(self.session, heads):
            if not self._has_token(head):
                continue
            if not self._has_room(head):
                crowded_out.append(head)
            elif (claimed := self._take(head)) is not None:
                break
        for head in crowded_out:
            rooms.wait(self.session, self.node, head)
        return claimed

    def _take(self, lane: Head) -> Claimed | None:
        """Take the head of a lane; when another worker is faster, the next one that no worker has its hand on."""
        while True:
            try:
                with self.session.begin_nested() as savepoint:
                    build = lanes.lock_head(self.session, lane)
                    if build is not None and self._has_token(lane, lock=True) and self._has_room(lane, lock=True):
                        return self._start(build, lane)
                    savepoint.rollback()
                    return None
            except IntegrityError:  # a twin began in between: it is seen to run now, and this build passed over
                continue

    def _has_token(self, lane: Head, *, lock: bool = False) -> bool:
        return lane.licence is None or licences.has_token(self.session, lane.licence, lock=lock)

    def _has_room(self, lane: Head, *, lock: bool = False) -> bool:
        return lane.is_light or rooms.has_room(self.session, self.node, lane, lock=lock)

    def _start(self, build: Build, lane: Head) -> Claimed:
        now = utcnow()
        build.state, build.node, build.not_before = "running", self.node, None
        build.started_at, build.finished_at, build.attempt = now, None, build.attempt + 1
        build.lease_owner, build.lease_expires = self.owner, now + timedelta(seconds=self.seconds)
        build.lease_token += 1
        if not lane.is_light:
            rooms.stop_waiting(self.session, self.node, lane)
        self.session.flush()
        return Claimed(build.id, build.lease_token, build.stage, build.queue)


def lengths(session: Session) -> dict[str, int]:
    """Builds that wait in each queue that is not empty, without those whose time has not come."""
    ready = or_(Build.not_before.is_(None), Build.not_before <= utcnow())
    count = select(Build.queue, func.count()).where(Build.state == "queued", ready).group_by(Build.queue)
    return dict(session.execute(count).all())
