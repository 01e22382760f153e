"""Sweeps: made, changed, run by hand; their runs: shown, accepted, cancelled."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any

from sqlalchemy.orm import Session

from api.principal import Principal
from api.schemas import sweeps as replies
from api.schemas.catalog import NewWorkloadShape
from api.services import catalog, quotas
from api.services.boards import check_board
from api.services.shapes import sweeps as shapes
from compiler.errors import InvalidInputError
from db import models
from db.errors import ConflictError
from db.repositories import catalog as catalog_rows
from db.repositories import comparisons, sweeps
from db.types import utcnow
from dse.objectives import DEFAULT, check_objectives
from worker.farm import Farm
from worker.ladder.reach import unoffered, with_implied
from worker.settings import Settings
from worker.sweeps import sweep_runs
from worker.sweeps.schedule import next_time
from worker.sweeps.sweep_plan import cells, check_size
from worker.sweeps.webhook_secrets import WebhookSecrets
from worker.sweeps.webhooks import check_url

_SECRET = "webhook_secret"
_SHAPE = {"phase": "phases", "length": "lengths", "precision": "precisions", "layers": "layers"}
"""Fields of a workload's shape, and the axes of the matrix with their values."""

_NOT_OF_FILES = {"phase", "length"}
"""Fields that do not apply to a network from a file; the matrix may have other models for them."""

_NOT_OF_HEADS = {"length", "layers"}
"""The same for the head of a network."""


def add(session: Session, settings: Settings, who: Principal, body: replies.NewSweep) -> replies.Sweep:
    """Store a sweep. Raises InvalidInputError, NotFoundError (a model), ConflictError (its name), QuotaError."""
    _check_webhook(settings, body.webhook, body.webhook_secret is not None)
    following = next_time(body.cron, body.zone, utcnow())
    matrix = _matrix(session, body.matrix)
    quotas.check_sweep(who, len(cells(matrix)))
    _check_boards(matrix, body.options.board)
    _check_objectives(session, body.options.objectives, matrix)
    options, _ = with_implied(body.options.model_dump(mode="json"))
    row = sweeps.add(
        session,
        body.name,
        body.cron,
        body.zone,
        body.misfire,
        matrix,
        options,
        webhook=body.webhook,
        webhook_secret=_sealed(settings, body.webhook_secret),
        owner=who.name,
        next_at=following if body.enabled else None,
    )
    return shape(session, settings, who, row)


def change(session: Session, settings: Settings, who: Principal, key: str, body: replies.SweepChange) -> replies.Sweep:
    """Change what is given; a run that is under way goes on as it began. Raises as `add`, and ForbiddenError."""
    row = _own(session, who, key)
    given = body.model_fields_set
    row.cron, row.zone = body.cron or row.cron, body.zone or row.zone
    row.misfire = body.misfire or row.misfire
    if body.options is not None:
        row.options, _ = with_implied(body.options.model_dump(mode="json"))
    if body.matrix is not None:
        row.matrix = _matrix(session, body.matrix)
        quotas.check_sweep(who, len(cells(row.matrix)))
    if "webhook" in given:
        row.webhook = body.webhook
    if _SECRET in given or row.webhook is None:
        row.webhook_secret = _sealed(settings, body.webhook_secret)
    _check_boards(row.matrix, row.options.get("board"))
    _check_objectives(session, row.options.get("objectives", DEFAULT), row.matrix)
    _check_webhook(settings, row.webhook, row.webhook_secret is not None)
    session.flush()
    if given & {"cron", "zone", "enabled"}:
        enabled = row.enabled if body.enabled is None else body.enabled
        following = next_time(row.cron, row.zone, utcnow())
        sweeps.set_next(session, row.id, following if enabled else None)
    session.refresh(row)
    return shape(session, settings, who, row)


def remove(session: Session, who: Principal, key: str) -> None:
    """Remove a sweep and its runs; their explorations stay. Raises ConflictError while a run is under way."""
    row = _own(session, who, key)
    busy = sweeps.running(session, row.id)
    if busy is not None:
        raise ConflictError(f"run {busy.id} of the sweep {row.name!r} is under way; cancel it first")
    sweeps.remove(session, row.id)


def start(farm: Farm, session: Session, who: Principal, key: str) -> replies.SweepRun:
    """Run it now. Raises ConflictError while a run is under way, QuotaError."""
    row = _own(session, who, key)
    return shape_run(session, farm.settings, sweep_runs.start(farm, session, row.id, "manual"))


def accept(farm: Farm, session: Session, who: Principal, run_id: str) -> replies.SweepRun:
    """Take a regressed run as the baseline. Raises ConflictError."""
    _own(session, who, sweeps.get_run(session, run_id).sweep_id)
    return shape_run(session, farm.settings, sweep_runs.accept(session, run_id, who.name))


def cancel(farm: Farm, session: Session, who: Principal, run_id: str) -> replies.SweepRun:
    """Stop a run and its explorations; nothing happens when it has ended."""
    _own(session, who, sweeps.get_run(session, run_id).sweep_id)
    return shape_run(session, farm.settings, sweep_runs.cancel(farm, session, run_id))


def shape(session: Session, settings: Settings, who: Principal, row: models.Sweep) -> replies.Sweep:
    """The reply for one sweep, with what of it would wait for a node."""
    warnings = _warnings(settings, session, row)
    return shape_listed(session, settings, who, row).model_copy(update={"warnings": warnings})


def shape_listed(session: Session, settings: Settings, who: Principal, row: models.Sweep) -> replies.Sweep:
    """The reply in a list, with its last run; where its webhook is, whole for its owner only."""
    workloads = [catalog_rows.get_workload(session, workload) for workload in row.matrix["workload"]]
    last = shape_runs(session, sweeps.runs_page(session, row.id, None, 1))
    problem = WebhookSecrets(settings.secret_key).problem(row.webhook_secret)
    return shapes.sweep(row, workloads, last[0] if last else None, problem, who.owns(row.owner))


def shape_runs(session: Session, rows: Sequence[models.SweepRun]) -> list[replies.SweepRunSummary]:
    """Replies in the same order."""
    progress = comparisons.progress(session, [row.id for row in rows])
    return [shapes.summary(row, progress.get(row.id, (0, 0))) for row in rows]


def shape_run(session: Session, settings: Settings, row: models.SweepRun) -> replies.SweepRun:
    """The reply for one run, with its comparison."""
    progress, sweep = comparisons.progress(session, [row.id]), sweeps.get(session, row.sweep_id)
    warnings = _warnings(settings, session, sweep) if row.state == "running" else []
    return shapes.run(row, sweep.name, progress.get(row.id, (0, 0)), warnings)


def _warnings(settings: Settings, session: Session, row: models.Sweep) -> list[str]:
    """What would wait on any of its boards, each said once."""
    waiting = (unoffered(session, row.options, platform, settings.autoscaled) for platform in row.matrix["platform"])
    return list(dict.fromkeys(chain.from_iterable(waiting)))


def _own(session: Session, who: Principal, key: str) -> models.Sweep:
    row = sweeps.lock(session, key)
    who.require_owner(row.owner, f"sweep {row.name}")
    return row


def _matrix(session: Session, matrix: replies.SweepMatrix) -> dict[str, list[Any]]:
    """The matrix as it is stored; its workloads are stored now. Raises InvalidInputError, NotFoundError (a model)."""
    shapes_asked = [_different(getattr(matrix, axis)) for axis in _SHAPE.values()]
    others = {"platform": matrix.platforms, "seed": matrix.seeds, "sampler": matrix.samplers}
    others = {axis: _different(values) for axis, values in others.items()}
    models_asked = _different(matrix.models)
    check_size([models_asked, *shapes_asked, *others.values()])
    given = {name for name, axis in _SHAPE.items() if axis in matrix.model_fields_set}
    taken = {m: given - _NOT_OF_FILES if catalog.has_own_shapes(session, m) else given for m in models_asked}
    ids: list[str] = []
    for model, *values in product(models_asked, *shapes_asked):
        chosen = {name: value for name, value in zip(_SHAPE, values, strict=True) if name in taken[model]}
        if chosen.get("phase") == "head":
            chosen = {name: value for name, value in chosen.items() if name not in _NOT_OF_HEADS}
        ids.append(catalog.put_workload(session, model, NewWorkloadShape.model_validate(chosen)).id)
    return {"workload": _different(ids), **others}


def _different(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _check_objectives(session: Session, names: Sequence[str], matrix: Mapping[str, Any]) -> None:
    ids = matrix["workload"]
    check_objectives(names, catalog_rows.phases_of(session, ids), catalog_rows.batches_of(session, ids))


def _check_boards(matrix: dict[str, Any], board: str | None) -> None:
    for platform in matrix["platform"]:
        check_board(board, platform)


def _sealed(settings: Settings, secret: str | None) -> str | None:
    return None if secret is None else WebhookSecrets(settings.secret_key).seal(secret)


def _check_webhook(settings: Settings, webhook: str | None, is_signed: bool) -> None:
    if webhook is not None:
        check_url(webhook, settings.webhook_hosts)
    elif is_signed:
        raise InvalidInputError("webhook_secret signs the calls of a webhook; give a webhook too")
