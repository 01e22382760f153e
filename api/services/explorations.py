"""Explorations: start, list, cancel, resume."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api import schemas
from api.services import catalog, shapes
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import builds, designs, explorations
from db.repositories.explorations import Counts
from worker import flow
from worker.farm import Farm

OBJECTIVES = [
    {"name": "latency_us", "unit": "us", "direction": "minimize"},
    {"name": "energy_uj", "unit": "uJ", "direction": "minimize"},
]


def start(farm: Farm, session: Session, body: schemas.NewExploration) -> schemas.Exploration:
    """Store a new exploration and queue its first step. Raises InvalidInputError, NotFoundError (the model)."""
    load_platform(body.platform)
    workload = catalog.put_workload(session, body.model, body.workload)
    options = {"seed": body.seed, "sampler": body.sampler, "verify": body.verify}
    row = explorations.add(session, workload, body.platform, OBJECTIVES, options, body.budget)
    farm.emit(session, row.id, "state", {"state": "queued", "error": None})
    flow.step(farm, session, explorations.lock(session, row.id))
    return shape(session, explorations.get(session, row.id))


def shape(session: Session, row: models.Exploration) -> schemas.Exploration:
    """The reply for one exploration, its designs counted."""
    return shapes.exploration(row, explorations.counts(session, [row.id]).get(row.id, Counts()))


def shape_all(session: Session, rows: Sequence[models.Exploration]) -> dict[str, schemas.Exploration]:
    """Replies by id."""
    counts = explorations.counts(session, [r.id for r in rows])
    return {r.id: shapes.exploration(r, counts.get(r.id, Counts())) for r in rows}


def scatter(session: Session, exploration_id: str) -> schemas.Scatter:
    """Every design of the exploration by column."""
    explorations.get(session, exploration_id)
    csims = {b.design_id: b for b in builds.of_exploration(session, exploration_id) if b.design_id is not None}
    return shapes.scatter(designs.stored(session, exploration_id), csims)
