"""Builds: lists, one, retry, cancel, clone, logs."""

from collections.abc import Sequence

import redis
from sqlalchemy.orm import Session

from api.errors import NotReadyError
from api.principal import Principal
from api.schemas import builds as replies
from api.services.boards import check_board
from api.services.shapes import builds as shapes
from db import models
from db.errors import NotFoundError
from db.repositories import builds, explorations, overview, queue
from worker.farm import Farm
from worker.ladder import flow, quotas


def shape(session: Session, row: models.Build) -> replies.Build:
    """The reply for one build, with why it waits."""
    return shape_all(session, [row])[0]


def shape_all(session: Session, rows: Sequence[models.Build]) -> list[replies.Build]:
    """Replies in the same order, with why those wait that do."""
    reasons = _reasons(session, [row for row in rows if row.state in ("queued", "blocked")])
    return [shapes.build(row, reasons.get(row.id)) for row in rows]


def _reasons(session: Session, waiting: Sequence[models.Build]) -> dict[str, str]:
    """Why builds wait, by id. Queued ones that nothing sets apart wait for the same, which is asked for once."""
    if not waiting:
        return {}
    before = overview.of_ids(session, [row.after_id for row in waiting if row.after_id is not None])
    twins = overview.running_twins(session, [row.key for row in waiting])
    known: dict[tuple[object, ...], str] = {}
    found: dict[str, str] = {}
    for row in waiting:
        special = row.state == "blocked" or row.not_before is not None or row.key in twins
        alike = (row.id,) if special else (row.queue, row.request)
        if alike not in known:
            known[alike] = queue.why_waiting(session, row)
        found[row.id] = known[alike]
    del before  # kept until here, so that the session still has those that builds wait for
    return found


def retry(farm: Farm, session: Session, who: Principal, build_id: str) -> replies.Build:
    """Run a failed or cancelled build again. Raises NotFoundError, ForbiddenError, QuotaError, ConflictError."""
    row = _require_owner(session, who, build_id)
    quotas.check_room(session, row.owner)
    with quotas.bounded(session, row.owner, "open_builds"):
        retried = flow.retry_build(farm, session, build_id)
    return shape(session, retried)


def cancel(farm: Farm, session: Session, who: Principal, build_id: str) -> replies.Build:
    """Stop a build and what waits for it. Raises NotFoundError, ForbiddenError, ConflictError."""
    _require_owner(session, who, build_id)
    return shape(session, flow.cancel_build(farm, session, build_id))


def clone(farm: Farm, session: Session, who: Principal, build_id: str, body: replies.Clone) -> replies.Build:
    """The same stage with other options. Raises NotFoundError, ForbiddenError, QuotaError, ConflictError."""
    row = _require_owner(session, who, build_id)
    if row.exploration_id is not None:
        check_board(body.board, explorations.get(session, row.exploration_id).platform)
    quotas.check_room(session, row.owner)
    with quotas.bounded(session, row.owner, "open_builds"):
        cloned = flow.clone_build(farm, session, build_id, body.chosen())
    return shape(session, cloned)


def _require_owner(session: Session, who: Principal, build_id: str) -> models.Build:
    row = builds.get(session, build_id)
    who.require_owner(row.owner, f"build {build_id}")
    return row


def log(farm: Farm, session: Session, build_id: str, attempt: int | None = None) -> bytes:
    """What the build's tools have printed, so far where they still run; with `attempt` in an attempt that failed.

    Raises NotFoundError, NotReadyError, StoreError.
    """
    row = builds.get(session, build_id)
    if attempt is not None:
        return farm.store.read(_log_of_attempt(row, attempt))
    if row.state == "running":
        try:
            return farm.bus.logs.read(build_id)[0]
        except redis.RedisError as error:
            raise NotReadyError("the log of a running build is in Redis, which is away; try again later") from error
    if row.log_digest is None:
        raise NotFoundError("log of build", build_id, "it is written when the build runs")
    return farm.store.read(row.log_digest)


def _log_of_attempt(row: models.Build, attempt: int) -> str:
    for entry in reversed(row.history):
        if entry["attempt"] == attempt and entry["log_digest"] is not None:
            return entry["log_digest"]
    raise NotFoundError("log of attempt", f"{row.id}/{attempt}", "see the history of the build")
