"""Gives claimed builds back, as if they had not been claimed, for any worker to take at once."""

import logging
from collections.abc import Sequence
from itertools import groupby

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from db.repositories import builds, explorations, leases
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.running.runs import Run

_log = logging.getLogger(__name__)


def give_back(farm: Farm, runs: Sequence[Run]) -> None:
    """Release the leases that are still held. Where the database does not answer they run out."""
    try:
        for exploration_id, group in groupby(sorted(runs, key=_exploration_of), _exploration_of):
            with farm.database.write() as session:
                if exploration_id:  # before its builds, as everybody locks
                    explorations.lock(session, exploration_id)
                for run in group:
                    _release(farm, session, run)
    except SQLAlchemyError as error:
        _log.warning("builds are not given back, their leases will run out: %s", error)


def _exploration_of(run: Run) -> str:
    return run.build.exploration_id or ""


def _release(farm: Farm, session: Session, run: Run) -> None:
    if leases.release(session, run.order.build_id, run.order.token):
        build = builds.get(session, run.order.build_id)
        emit_build(farm, session, build)
        farm.queue.announce(session, build.queue)
