"""Answers to POST requests that carried an `Idempotency-Key`."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.errors import ConflictError
from db.models import IdempotencyKey
from db.repositories._statements import insert_or_ignore
from db.types import utcnow


def reserve(session: Session, route: str, key: str, body_digest: str) -> dict[str, Any] | None:
    """The stored answer to this key, or None when the caller is the first and must `record` one.

    Raises ConflictError when the key was used with another body.
    """
    values = {"route": route, "key": key, "body_digest": body_digest, "response": None, "created_at": utcnow()}
    if insert_or_ignore(session, IdempotencyKey, values):
        return None
    row = session.scalars(select(IdempotencyKey).where(_is(route, key))).one()
    if row.body_digest != body_digest:
        raise ConflictError(f"Idempotency-Key {key!r} was used with a different request; send a new key")
    return row.response


def record(session: Session, route: str, key: str, response: dict[str, Any]) -> None:
    session.execute(update(IdempotencyKey).where(_is(route, key)).values(response=response))


def _is(route: str, key: str):
    return (IdempotencyKey.route == route) & (IdempotencyKey.key == key)
