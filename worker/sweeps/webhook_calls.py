"""The webhooks of runs that have ended: called beside the tick, their outcome kept with the run."""

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from db.engine import after_commit
from db.errors import DatabaseError
from db.models import Sweep, SweepRun
from db.repositories import comparisons, sweeps
from db.types import utcnow
from worker.farm import Farm
from worker.settings import Settings
from worker.sweeps.webhook_secrets import SecretError, WebhookSecrets
from worker.sweeps.webhooks import Delivery, deliver

_GIVEN_UP = timedelta(hours=1)  # after the end of a run nobody was there to call for so long
_SENDING = timedelta(minutes=3)  # longer than all tries of one call take: who claimed it is gone
_REGRESSIONS = 20

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """One webhook to call; its secret is sealed."""

    url: str
    secret: str | None
    run_id: str
    body: dict[str, Any]


def call_waiting(farm: Farm, now: datetime) -> None:
    """Claim the webhooks that wait and call each in a thread of its own, once the claim is stored."""
    with farm.database.write() as session:
        for run in comparisons.unsent(session, now - _GIVEN_UP):
            webhook = (run.comparison or {})["webhook"]
            if webhook["state"] == "sending" and datetime.fromisoformat(webhook["until"]) > now:
                continue
            _set(run, {**webhook, "state": "sending", "until": (now + _SENDING).isoformat()})
            call = call_of(farm.settings, sweeps.get(session, run.sweep_id), run)
            after_commit(session, partial(_start, farm, call))


def call_of(settings: Settings, sweep: Sweep, run: SweepRun) -> Call:
    """What the webhook of a run is told."""
    found = run.comparison or {}
    body = {
        "sweep": {"id": sweep.id, "name": sweep.name},
        "run": {
            "id": run.id,
            "cause": run.cause,
            "baseline": run.baseline_id,
            "created_at": run.created_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        },
        "state": run.state,
        "error": run.error,
        "regressions": found.get("regressions", [])[:_REGRESSIONS],
        "regression_count": found.get("regression_count", 0),
        "builds": found.get("builds"),
        "link": f"{base_url(settings)}/v1/sweep-runs/{run.id}",
    }
    return Call(sweep.webhook or "", sweep.webhook_secret, run.id, body)


def base_url(settings: Settings) -> str:
    """Where people reach the API."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def _start(farm: Farm, call: Call) -> None:
    threading.Thread(target=_call, args=(farm, call), daemon=True, name=f"webhook {call.run_id}").start()


def _call(farm: Farm, call: Call) -> None:
    done = _delivered(farm.settings, call)
    if done.error is not None:
        _log.warning("the webhook of run %s was not taken after %d tries: %s", call.run_id, done.attempts, done.error)
    try:
        _record(farm, call.run_id, done)
    except (SQLAlchemyError, DatabaseError):
        _log.exception("that the webhook of run %s was called could not be stored; it is called again", call.run_id)


def _delivered(settings: Settings, call: Call) -> Delivery:
    """How the call went; one that can not be signed is not made."""
    try:
        secret = None if call.secret is None else WebhookSecrets(settings.secret_key).open(call.secret)
    except SecretError as error:
        return Delivery(0, None, str(error))
    return deliver(call.url, call.body, call.run_id, secret, settings.webhook_hosts)


def _record(farm: Farm, run_id: str, done: Delivery) -> None:
    with farm.database.write() as session:
        outcome = {"state": done.state, "attempts": done.attempts, "status": done.status, "error": done.error}
        _set(sweeps.lock_run(session, run_id), {**outcome, "at": utcnow().isoformat()})


def _set(run: SweepRun, webhook: dict[str, Any]) -> None:
    # A new value: SQLAlchemy does not see what changes inside of one.
    run.comparison = {**(run.comparison or {}), "webhook": webhook}
