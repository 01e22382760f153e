"""Explorations: start, list, cancel, resume."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api import schemas
from api.services import catalog, shapes
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import builds, designs, explorations
from db.repositories.explorations import Counts
from dse.promote import error_distribution
from worker import flow
from worker.build_events import estimate_error
from worker.farm import Farm

OBJECTIVES = [
    {"name": "latency_us", "unit": "us", "direction": "minimize"},
    {"name": "energy_uj", "unit": "uJ", "direction": "minimize"},
]


def start(farm: Farm, session: Session, body: schemas.NewExploration) -> schemas.Exploration:
    """Store a new exploration and queue its first step. Raises InvalidInputError, NotFoundError (the model)."""
    load_platform(body.platform)
    workload = catalog.put_workload(session, body.model, body.workload)
    options = body.model_dump(include={"seed", "sampler", "simulate", "calibration", "verify"})
    row = explorations.add(session, workload, body.platform, OBJECTIVES, options, body.budget)
    farm.emit(session, row.id, "state", {"state": "queued", "error": None})
    flow.step(farm, session, explorations.lock(session, row.id))
    return shape(session, explorations.get(session, row.id))


def shape(session: Session, row: models.Exploration) -> schemas.Exploration:
    """The reply for one exploration, its designs counted."""
    return shape_all(session, [row])[row.id]


def shape_all(session: Session, rows: Sequence[models.Exploration]) -> dict[str, schemas.Exploration]:
    """Replies by id."""
    counts = explorations.counts(session, [r.id for r in rows])
    errors = _errors(session, [r.id for r in rows])
    return {r.id: shapes.exploration(r, counts.get(r.id, Counts()), error_distribution(errors[r.id])) for r in rows}


def _errors(session: Session, exploration_ids: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """Signed relative errors of the estimated latencies by design id, by exploration id."""
    found: dict[str, list[tuple[str, float]]] = {key: [] for key in exploration_ids}
    for design in designs.simulated(session, exploration_ids):
        error = estimate_error(design)
        if error is not None:
            found[design.exploration_id].append((design.id, error))
    return found


def scatter(session: Session, exploration_id: str) -> schemas.Scatter:
    """Every design of the exploration by column."""
    explorations.get(session, exploration_id)
    simulations, csims = (_newest(session, exploration_id, stage) for stage in models.DESIGN_STAGES)
    return shapes.scatter(designs.stored(session, exploration_id), simulations, csims)


def _newest(session: Session, exploration_id: str, stage: models.DesignStage) -> dict[str, models.Build]:
    found = builds.of_exploration(session, exploration_id, stage)
    return {build.design_id: build for build in found if build.design_id is not None}
