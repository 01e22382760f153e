"""Queuing a build again, with what the settings have it ask for by now: who gave it more memory retries it for that."""

from sqlalchemy.orm import Session

from db.models import Build
from db.repositories import builds, catalog
from db.repositories.builds import Asks
from worker.farm import Farm
from worker.ladder.import_limits import import_limits
from worker.limits.table import Limits, limits_of


def requeue(farm: Farm, session: Session, build: Build) -> bool:
    """As `builds.requeue`."""
    limits = _limits(farm, session, build)
    return builds.requeue(session, build.id, Asks(limits.cpus, limits.memory_gb, limits.timeout_s))


def _limits(farm: Farm, session: Session, build: Build) -> Limits:
    if build.stage == "lower" and build.workload_id is not None:
        return import_limits(catalog.get_workload(session, build.workload_id), farm.settings)
    return limits_of(build.stage, farm.settings)
