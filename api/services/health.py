"""Whether the parts answer."""

import redis
from sqlalchemy.exc import SQLAlchemyError

from api.schemas.farm import Health, Ready
from db.damage import DamagedDatabaseError
from db.migrate import HEAD, current_revision, newer_than_known
from worker.farm import Farm
from worker.ladder.versions import millrace_version
from worker.program import as_typed


def check(farm: Farm) -> Health:
    """Ask the database and the broker."""
    problems: list[str] = []
    database = broker = True
    workers = 0
    wrong = _wrong_with_database(farm)
    if wrong is not None:
        database = False
        problems.append(wrong)
    try:
        workers = farm.bus.workers()
    except redis.RedisError as error:
        broker = False
        problems.append(f"the broker does not answer ({type(error).__name__}); work waits until it does")
    if broker and not workers:
        problems.append("no worker has reported lately; work waits until one does")
    return Health(
        status="degraded" if problems else "ok",
        version=millrace_version(),
        database=database,
        broker=broker,
        workers=workers,
        detail="; ".join(problems) or None,
    )


def ready(farm: Farm) -> Ready:
    """Whether this process can serve: its database, as this release has it, and its broker."""
    wrong = _wrong_with_database(farm)
    if wrong is not None:
        return Ready(status="not ready", detail=wrong)
    try:
        farm.bus.ping()
    except redis.RedisError as error:
        return Ready(status="not ready", detail=f"the broker does not answer: {type(error).__name__}")
    return Ready(status="ready")


def _wrong_with_database(farm: Farm) -> str | None:
    """What keeps the database from being used, and what to do; None where nothing does."""
    try:
        revision = current_revision(farm.database.engine)
    except DamagedDatabaseError as error:
        return str(error)
    except SQLAlchemyError as error:
        return f"the database does not answer: {type(error).__name__}"
    if farm.database.damage is not None:
        return str(farm.database.damage)
    if revision != HEAD:
        old = f"the database is at revision {revision}, this release needs {HEAD}: millrace farm upgrade"
        return newer_than_known(revision) or as_typed(old)
    return None
