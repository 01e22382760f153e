"""Finds work that was lost: its worker died, its message was dropped, or a step was cut off. Idempotent."""

import logging

from sqlalchemy.orm import Session

from db.models import ACTIVE_STATES, Build, Exploration
from db.repositories import builds, explorations, leases
from worker.build_events import emit_build
from worker.farm import Farm
from worker.flow import advance, move
from worker.processes import is_dead

MAX_LOSSES = 4
_LOST = "its worker was lost {} times (killed, out of memory, or its machine went down); look at the worker's log"
_TABLES: tuple[leases.LeasedTable, ...] = (Build, Exploration)

_log = logging.getLogger(__name__)


def recover(farm: Farm) -> None:
    """At the start of a worker: take up at once what dead workers of this machine held, then reap."""
    with farm.database.read() as session:
        held = [(table, key, owner) for table in _TABLES for key, owner in leases.held(session, table)]
    for table, key, owner in held:
        if is_dead(owner):
            _lose(farm, table, key)
    with farm.database.write() as session:
        for table in _TABLES:
            leases.forget_messages(session, table)
    reap(farm)


def reap(farm: Farm) -> None:
    """Free leases that ran out, and advance every active exploration."""
    with farm.database.read() as session:
        expired = [(table, key) for table in _TABLES for key in leases.expired(session, table)]
        active = explorations.active(session)
    for table, key in expired:
        _lose(farm, table, key)
    for exploration_id in active:
        advance(farm, exploration_id)
    with farm.database.write() as session:
        for build in builds.unfinished(session, "simulate", "csim"):
            farm.queue.submit(session, build)


def _lose(farm: Farm, table: leases.LeasedTable, key: str) -> None:
    with farm.database.write() as session:
        exploration = _lock_exploration(session, table, key)
        losses = leases.count_loss(session, table, key)
        _log.warning("the worker of %s was lost (%d of %d)", key, losses, MAX_LOSSES)
        if losses < MAX_LOSSES:
            return
        if table is Build:
            _fail_build(farm, session, exploration, key, _LOST.format(losses))
        elif exploration is not None and exploration.state in ACTIVE_STATES:
            move(farm, session, exploration, "failed", _LOST.format(losses))


def _lock_exploration(session: Session, table: leases.LeasedTable, key: str) -> Exploration | None:
    if table is Exploration:
        return explorations.lock(session, key)
    exploration_id = builds.exploration_of(session, key)
    return explorations.lock(session, exploration_id) if exploration_id else None


def _fail_build(farm: Farm, session: Session, exploration: Exploration | None, build_id: str, error: str) -> None:
    builds.fail(session, build_id, "node", error)
    if exploration is not None:
        emit_build(farm, session, exploration.id, builds.get(session, build_id))
