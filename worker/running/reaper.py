"""Finds work that was lost: its worker died, its ticket was dropped, or a step was cut off. All workers do it; it is
idempotent and cheap.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import redis

from db.models import Build
from db.repositories import attempts, builds, explorations, leases
from db.repositories import queue as queues
from db.types import utcnow
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.ladder.course import is_due
from worker.ladder.flow import advance, ended
from worker.processes import is_dead
from worker.running.recording import RETRIES

_LOST = (
    "its worker was lost time after time (killed, out of memory, or its machine went down); "
    "look at the worker's log on {}, and at the memory the build asks for (MILLRACE_REQUESTS)"
)
_MOST_TICKETS = 64

_log = logging.getLogger(__name__)


def recover(farm: Farm) -> None:
    """At the start of a worker: take up at once what dead workers of this machine held, then reap."""
    with farm.database.read() as session:
        held = leases.held(session)
    for build_id, owner in held:
        if is_dead(owner):
            with _one_of_many(f"build {build_id}"):
                _lose(farm, build_id, lambda build: is_dead(build.lease_owner or ""))
    reap(farm)


def reap(farm: Farm) -> None:
    """Free leases that ran out, advance explorations whose step was cut off, and see that no queue lacks tickets."""
    for part in (_free, _advance, top_up):
        with _one_of_many(part.__name__):
            part(farm)


@contextmanager
def _one_of_many(what: str) -> Generator[None]:
    """What goes wrong with one exploration or build must not keep the farm from all others."""
    try:
        yield
    except Exception:  # noqa: BLE001  # of all kinds: what it is about is tried again
        _log.exception("%s could not be reaped; it is tried again", what)


def _free(farm: Farm) -> None:
    with farm.database.read() as session:
        expired = leases.expired(session)
    for build_id in expired:
        with _one_of_many(f"build {build_id}"):
            _lose(farm, build_id, _is_expired)


def _is_expired(build: Build) -> bool:
    return build.lease_expires is None or build.lease_expires < utcnow()


def _lose(farm: Farm, build_id: str, lost: Callable[[Build], bool]) -> None:
    """Count the loss of a build's worker, if it is still `lost`, as a failure of the node."""
    with farm.database.write() as session:
        explorations.lock_of(session, build_id)
        build = builds.get(session, build_id)
        session.refresh(build, with_for_update=True)
        if build.state != "running" or not lost(build):
            return
        _log.warning("the worker of %s %s on %s was lost", build.stage, build_id, build.node)
        text = _LOST.format(build.node or "its node")
        leases.count_loss(session, build_id)
        if attempts.failures(build)["node"] < RETRIES["node"].attempts:
            emit_build(farm, session, build)
            farm.queue.announce(session, build.queue)
        else:
            ended(farm, session, build, builds.fail(session, build, "node", text))


def _advance(farm: Farm) -> None:
    with farm.database.read() as session:
        stuck = [i for i in explorations.active(session) if is_due(session, explorations.get(session, i))]
    for exploration_id in stuck:
        with _one_of_many(f"exploration {exploration_id}"):
            advance(farm, exploration_id)


def top_up(farm: Farm) -> None:
    """Send tickets to queues that have more to do than tickets for it (some are kept back until then, see `Retry`)."""
    with farm.database.read() as session:
        ready = queues.lengths(session)
    try:
        tickets: Mapping[str, int] = farm.bus.queue_lengths(ready)
    except redis.RedisError as error:
        _log.warning("tickets are not counted: %s", error)
        return
    for queue, builds_ready in ready.items():
        for _ in range(min(builds_ready, _MOST_TICKETS) - tickets[queue]):
            farm.queue.send(queue)
