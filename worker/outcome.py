"""How a failed job is recorded; shared by the job itself and by the worker that finds it dead."""

import errno

from sqlalchemy.exc import OperationalError

from db.models import ACTIVE_STATES, Build, Exploration, Failure
from db.repositories import builds, explorations, leases
from worker.build_events import emit_build
from worker.errors import DiskFullError
from worker.farm import Farm
from worker.flow import move


def record_failure(farm: Farm, stage: str, key: str, token: int, failure: Failure, text: str) -> None:
    """Mark the exploration or build as failed. Raises LeaseLostError."""
    with farm.database.write() as session:
        if stage == "search":
            exploration = explorations.lock(session, key)
            leases.fence(session, Exploration, key, token)
            leases.release(session, Exploration, key, token)
            if exploration.state in ACTIVE_STATES:
                move(farm, session, exploration, "failed", text)
            return
        exploration_id = builds.exploration_of(session, key)
        if exploration_id is not None:
            explorations.lock(session, exploration_id)
        leases.fence(session, Build, key, token)
        builds.fail(session, key, failure, text)
        if exploration_id is not None:
            emit_build(farm, session, exploration_id, builds.get(session, key))


def is_disk_full(error: BaseException) -> bool:
    """Whether `error` says that nothing more fits on the disk, from the file system or from the database."""
    if isinstance(error, DiskFullError):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    text = str(error).lower()
    return isinstance(error, OperationalError) and ("disk is full" in text or "no space left" in text)
