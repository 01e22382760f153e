"""Starting an exploration, for a person or for a sweep."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from db.models import Exploration, Priority, Workload
from db.repositories import explorations
from db.repositories.explorations import UNLABELLED, Label
from dse.objectives import DEFAULT
from worker.farm import Farm
from worker.ladder import flow, quotas


def start(
    farm: Farm,
    session: Session,
    workload: Workload,
    platform: str,
    options: Mapping[str, Any],
    budget: int,
    *,
    objectives: Sequence[str] = DEFAULT,
    priority: Priority = "normal",
    owner: str | None = None,
    sweep_run_id: str | None = None,
    label: Label = UNLABELLED,
) -> Exploration:
    """Store a new exploration and queue its first step. What was chosen has been checked. Raises ConflictError for a
    name that is taken, QuotaError for a bound of the owner's key.
    """
    quotas.check_room(session, owner)
    with quotas.bounded(session, owner, "active_explorations", "designs"):
        row = explorations.add(
            session,
            workload,
            platform,
            list(objectives),
            dict(options),
            budget,
            priority=priority,
            owner=owner,
            sweep_run_id=sweep_run_id,
            label=label,
        )
    farm.emit(session, row.id, "state", {"state": "queued", "error": None})
    flow.step(farm, session, explorations.lock(session, row.id))
    return explorations.get(session, row.id)
