"""Queuing builds again that have failed or were cancelled."""

from collections.abc import Iterable
from typing import get_args

from sqlalchemy.orm import Session

from db.models import Build, Stage
from db.repositories import builds
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.ladder.chains import is_dead_end
from worker.ladder.requeuing import requeue

_LADDER: tuple[Stage, ...] = get_args(Stage)


def revive(farm: Farm, session: Session, found: Iterable[Build]) -> None:
    """Queue failed and cancelled builds again, but those that lead nowhere and what is behind them. What a twin has
    found meanwhile is taken over instead.
    """
    hopeless: set[str | None] = set()
    # By stage: ids that were made within a millisecond are in no order, and a build must not come before its maker.
    for build in sorted(found, key=lambda build: _LADDER.index(build.stage)):
        if is_dead_end(build) or build.after_id in hopeless:
            hopeless.add(build.id)
        elif requeue(farm, session, build):
            _tell(farm, session, builds.get(session, build.id))
            if is_dead_end(build):  # as a twin has found
                hopeless.add(build.id)


def _tell(farm: Farm, session: Session, build: Build) -> None:
    if build.state == "queued":
        farm.queue.announce(session, build.queue)
    emit_build(farm, session, build)
