"""API keys: who may do what. Only a hash of each is stored."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.orm import Session

from db.errors import ConflictError, NotFoundError
from db.ids import new_id
from db.models import ApiKey, Role
from db.repositories._statements import insert_or_ignore
from db.types import utcnow

_TOUCH = timedelta(minutes=1)


def add(
    session: Session,
    name: str,
    role: Role,
    prefix: str,
    digest: str,
    quotas: dict[str, Any] | None = None,
    expires_at: datetime | None = None,
) -> ApiKey:
    """Store a key by its public prefix and the hash of the whole. Raises ConflictError when the name is taken, be it
    by a revoked key: audit and ownership go by names.
    """
    row = {"id": new_id("key"), "name": name, "role": role, "prefix": prefix, "hash": digest}
    if not insert_or_ignore(session, ApiKey, {**row, "quotas": quotas or {}, "expires_at": expires_at}):
        raise ConflictError(f"an API key named {name!r} exists, or existed; choose another name")
    return session.get_one(ApiKey, row["id"])


def with_prefix(session: Session, prefix: str) -> Sequence[ApiKey]:
    """Keys that may be meant, revoked and expired ones too; which it is, its hash says."""
    return session.scalars(select(ApiKey).where(ApiKey.prefix == prefix)).all()


def valid_hashes(session: Session, limit: int) -> Sequence[str]:
    """The hashes of keys that are neither revoked nor expired, of those that were used last."""
    is_valid = ApiKey.revoked_at.is_(None) & or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > utcnow())
    query = select(ApiKey.hash).where(is_valid).order_by(ApiKey.last_used_at.desc().nulls_last())
    return session.scalars(query.limit(limit)).all()


def find(session: Session, key: str) -> ApiKey:
    """The key with this id, or else this name. Raises NotFoundError."""
    query = select(ApiKey).where(or_(ApiKey.id == key, ApiKey.name == key))
    found = session.scalars(query.order_by(case((ApiKey.id == key, 0), else_=1))).first()
    if found is None:
        raise NotFoundError("API key", key, "millrace farm key list shows them")
    return found


def page(session: Session, before: str | None, limit: int) -> Sequence[ApiKey]:
    """Newest first, those older than id `before`."""
    query = select(ApiKey).order_by(ApiKey.id.desc()).limit(limit)
    return session.scalars(query if before is None else query.where(ApiKey.id < before)).all()


def revoke(session: Session, key: str) -> ApiKey:
    """Never accept the key with this id or name again. Raises NotFoundError."""
    found = find(session, key)
    found.revoked_at = found.revoked_at or utcnow()
    session.flush()
    return found


def set_quotas(session: Session, key: str, quotas: dict[str, Any]) -> ApiKey:
    """Make these all bounds of the key with this id or name. Raises NotFoundError."""
    found = find(session, key)
    found.quotas = quotas
    session.flush()
    return found


def is_stale(key: ApiKey) -> bool:
    """Whether `touch` would write: last use is kept to the minute."""
    return key.last_used_at is None or key.last_used_at < utcnow() - _TOUCH


def touch(session: Session, key_id: str) -> None:
    """Note that the key was used; at most once a minute."""
    now = utcnow()
    stale = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < now - _TOUCH)
    row = update(ApiKey).where(ApiKey.id == key_id, stale).values(last_used_at=now)
    session.execute(row, execution_options={"synchronize_session": False})


def count(session: Session) -> int:
    """Keys that are not revoked; expired ones count, since they do not open what was closed."""
    return session.scalars(select(func.count()).where(ApiKey.revoked_at.is_(None))).one()
