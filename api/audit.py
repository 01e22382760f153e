"""Who changed what: a row for every change that is made, in its own transaction, and for every one that was refused."""

from typing import Any

from sqlalchemy.orm import Session

from api.principal import Principal
from db.repositories import audit
from worker.farm import Farm

_MOST_TARGET = 200


def record(session: Session, who: Principal, action: str, target: str | None, detail: dict[str, Any]) -> None:
    """Keep in the audit what `who` does in this transaction. `action` is the route, `target` what it is done to."""
    audit.append(session, who.name, who.address, action, target and target[:_MOST_TARGET], detail)


def record_refusal(farm: Farm, who: Principal, action: str, path: str) -> None:
    """Keep in the audit that a change was refused for want of rights."""
    with farm.database.write() as session:
        record(session, who, action, path, {"refused": True})
