"""Explorations: start, list, cancel, resume."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api.errors import NotReadyError
from api.principal import Principal
from api.schemas import explorations as replies
from api.services import catalog, quotas
from api.services.boards import check_board
from api.services.shapes import explorations as shapes
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import calibrations, explorations, overview, queue
from db.repositories.explorations import Counts
from dse.promote import error_distribution, relative_error
from worker.farm import Farm
from worker.ladder import exploring, flow


def start(farm: Farm, session: Session, who: Principal, body: replies.NewExploration) -> replies.Exploration:
    """Store a new exploration and queue its first step.

    Raises InvalidInputError, NotFoundError (the model), NotReadyError (the area model), QuotaError.
    """
    load_platform(body.platform)
    check_board(body.board, body.platform)
    quotas.check_explorations(session, who)
    workload = catalog.put_workload(session, body.model, body.workload)
    options = body.model_dump(
        include={"seed", "sampler", "simulate", "calibration", "verify", "builds", "vitis", "board"}
    )
    options["area_model"] = _area_model(session, body)
    row = exploring.start(
        farm, session, workload, body.platform, options, body.budget, priority=body.priority, owner=who.name
    )
    return shape(session, row)


def start_all(
    farm: Farm, session: Session, who: Principal, body: replies.NewExplorations
) -> replies.StartedExplorations:
    """Start all of them in the caller's transaction. Raises as `start`, then nothing is kept of any."""
    return replies.StartedExplorations(explorations=[start(farm, session, who, one) for one in body.explorations])


def _area_model(session: Session, body: replies.NewExploration) -> str | None:
    if body.area_model == "shipped":
        return None
    newest = calibrations.latest(session, body.platform)
    if newest is None:
        raise NotReadyError(
            f"no area model was fitted for {body.platform} yet; build some designs (csynth, link) and start the "
            "exploration with area_model shipped until then"
        )
    return newest.digest


def cancel(farm: Farm, session: Session, who: Principal, exploration_id: str) -> replies.Exploration:
    """Stop it. Raises NotFoundError, ForbiddenError."""
    _require_owner(session, who, exploration_id)
    return shape(session, flow.cancel(farm, session, exploration_id))


def resume(farm: Farm, session: Session, who: Principal, exploration_id: str) -> replies.Exploration:
    """Go on with it. Raises NotFoundError, ForbiddenError, QuotaError, ConflictError."""
    row = _require_owner(session, who, exploration_id)
    if row.state not in models.ACTIVE_STATES:
        quotas.check_explorations(session, who)
    return shape(session, flow.resume(farm, session, exploration_id))


def _require_owner(session: Session, who: Principal, exploration_id: str) -> models.Exploration:
    row = explorations.get(session, exploration_id)
    who.require_owner(row.owner, f"exploration {exploration_id}")
    return row


def shape(session: Session, row: models.Exploration) -> replies.Exploration:
    """The reply for one exploration, its designs counted, with why nothing of it runs."""
    shaped = shape_all(session, [row])[row.id]
    return shaped.model_copy(update={"waiting": _waiting(session, row)})


def _waiting(session: Session, row: models.Exploration) -> str | None:
    if row.state not in models.ACTIVE_STATES:
        return None
    build = overview.first_waiting(session, row)
    return None if build is None else f"{build.stage} {queue.why_waiting(session, build)}"


def shape_all(session: Session, rows: Sequence[models.Exploration]) -> dict[str, replies.Exploration]:
    """Replies by id."""
    ids = [r.id for r in rows]
    counts = explorations.counts(session, ids)
    errors = _errors(session, ids)
    return {r.id: shapes.exploration(r, counts.get(r.id, Counts()), error_distribution(errors[r.id])) for r in rows}


def _errors(session: Session, exploration_ids: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """Signed relative errors of the estimated latencies by design id, by exploration id."""
    found: dict[str, list[tuple[str, float]]] = {key: [] for key in exploration_ids}
    for design in overview.rated(session, exploration_ids):
        error = relative_error(design.latency_us, design.simulated_us)
        found[design.exploration_id].append((design.id, error))
    return found
