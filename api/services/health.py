"""Whether the parts answer."""

import redis
from sqlalchemy.exc import SQLAlchemyError

from api.schemas.farm import Health, Ready
from db.migrate import HEAD, current_revision
from worker.farm import Farm
from worker.ladder.versions import millrace_version


def check(farm: Farm) -> Health:
    """Ask the database and the broker."""
    problems: list[str] = []
    database = broker = True
    workers = 0
    try:
        farm.database.ping()
    except SQLAlchemyError as error:
        database = False
        problems.append(f"the database does not answer: {type(error).__name__}")
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
    try:
        revision = current_revision(farm.database.engine)
        farm.bus.ping()
    except SQLAlchemyError as error:
        return Ready(status="not ready", detail=f"the database does not answer: {type(error).__name__}")
    except redis.RedisError as error:
        return Ready(status="not ready", detail=f"the broker does not answer: {type(error).__name__}")
    if revision != HEAD:
        return Ready(status="not ready", detail=f"the database is at revision {revision}, this release needs {HEAD}")
    return Ready(status="ready")
