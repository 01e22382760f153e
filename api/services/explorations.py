"""Explorations: start, list, cancel, resume, rename, archive, pin."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api.errors import NotReadyError
from api.principal import Principal
from api.schemas import explorations as replies
from api.services import catalog
from api.services.boards import check_board
from api.services.kept import Kept
from api.services.shapes import explorations as shapes
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import calibrations, events, explorations, naming, overview, queue
from db.repositories.explorations import Counts, Label
from dse.objectives import check_objectives, usual
from dse.promote import error_distribution, relative_error
from worker.farm import Farm
from worker.ladder import exploring, flow, quotas
from worker.ladder.reach import unoffered, with_implied
from worker.settings import Settings

_distinct: Kept[int] = Kept(256)
_groups: Kept[replies.Groups] = Kept(32)


def start(farm: Farm, session: Session, who: Principal, body: replies.NewExploration) -> replies.Exploration:
    """Store a new exploration and queue its first step.

    Raises InvalidInputError, NotFoundError (the model), NotReadyError (the area model, a node), QuotaError,
    InvalidNameError, ConflictError (a name that is taken).
    """
    load_platform(body.platform)
    objectives = body.objectives or usual(body.workload.phase)
    check_objectives(objectives, [body.workload.phase], [body.workload.batch])
    check_board(body.board, body.platform)
    if body.name is not None:
        naming.check_name(body.name)
    options = body.model_dump(
        include={"seed", "sampler", "islands", "simulate", "calibration", "verify", "builds", "vitis", "board"}
    )
    if at_most := body.at_most.model_dump(exclude_none=True):
        options["at_most"] = at_most
    options, implied = with_implied(options)
    if body.require_nodes and (missing := unoffered(session, options, body.platform, farm.settings.autoscaled)):
        raise NotReadyError(f"{'; '.join(missing)}. Start it without require_nodes, and it waits there")
    workload = catalog.put_workload(session, body.model, body.workload)
    options |= {"area_model": _area_model(session, body), "implied": implied}
    row = exploring.start(
        farm,
        session,
        workload,
        body.platform,
        options,
        body.budget,
        objectives=objectives,
        priority=body.priority,
        owner=who.name,
        label=Label(body.name, tuple(body.tags), body.notes),
    )
    return shape(farm.settings, session, row)


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
    return shape(farm.settings, session, flow.cancel(farm, session, exploration_id))


def resume(farm: Farm, session: Session, who: Principal, exploration_id: str) -> replies.Exploration:
    """Go on with it. Raises NotFoundError, ForbiddenError, QuotaError, ConflictError."""
    row = _require_owner(session, who, exploration_id)
    with quotas.bounded(session, row.owner, "active_explorations", "designs"):
        resumed = flow.resume(farm, session, exploration_id)
    return shape(farm.settings, session, resumed)


def change(
    settings: Settings, session: Session, who: Principal, exploration_id: str, body: replies.ExplorationChange
) -> replies.Exploration:
    """Set what is given. Raises NotFoundError, ForbiddenError, InvalidNameError, ConflictError (the name is taken)."""
    _require_owner(session, who, exploration_id)
    changes = body.model_dump(exclude_none=True)
    if "name" in changes:
        naming.check_name(changes["name"])
    row = explorations.lock(session, exploration_id)
    explorations.relabel(session, row, changes)
    return shape(settings, session, row)


def _require_owner(session: Session, who: Principal, exploration_id: str) -> models.Exploration:
    row = explorations.get(session, exploration_id)
    who.require_owner(row.owner, f"exploration {exploration_id}")
    return row


def shape(settings: Settings, session: Session, row: models.Exploration) -> replies.Exploration:
    """The reply for one exploration, its designs counted, with why nothing of it runs."""
    shaped = shape_all(session, [row])[row.id]
    more = {
        "waiting": _waiting(session, row),
        "warnings": _warnings(settings, session, row),
        # The page asks again and again, and counting reads every design: once for each number of them is enough.
        "distinct": _distinct.get(row.id, shaped.evaluated, lambda: overview.distinct(session, row.id)),
    }
    return shaped.model_copy(update=more)


def _warnings(settings: Settings, session: Session, row: models.Exploration) -> list[str]:
    if row.state not in models.ACTIVE_STATES:
        return []
    return [*row.options.get("implied", ()), *unoffered(session, row.options, row.platform, settings.autoscaled)]


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
    fronts: dict[str, list[overview.OnFront]] = {key: [] for key in ids}
    for design in overview.fronts(session, ids):
        fronts[design.exploration_id].append(design)
    return {
        r.id: shapes.exploration(r, counts.get(r.id, Counts()), error_distribution(errors[r.id]), fronts[r.id])
        for r in rows
    }


def groups(session: Session, exploration_id: str) -> replies.Groups:
    """The front of the exploration, with what the estimate can not tell apart as one. Raises NotFoundError."""
    row = explorations.get(session, exploration_id)
    return _groups.get(row.id, events.last_id(session, row.id), lambda: _read_groups(session, row))


def _read_groups(session: Session, row: models.Exploration) -> replies.Groups:
    errors = error_distribution(_errors(session, [row.id])[row.id])
    return shapes.groups(row.objectives, errors, overview.fronts(session, [row.id]))


def _errors(session: Session, exploration_ids: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """Signed relative errors of the estimated latencies by design id, by exploration id."""
    found: dict[str, list[tuple[str, float]]] = {key: [] for key in exploration_ids}
    for design in overview.rated(session, exploration_ids):
        error = relative_error(design.latency_us, design.simulated_us)
        found[design.exploration_id].append((design.id, error))
    return found
