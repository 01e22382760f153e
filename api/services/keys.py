"""API keys: made, revoked, and used to log in."""

from datetime import timedelta

from sqlalchemy.orm import Session

from api import tokens
from api.errors import UnauthorizedError
from api.principal import Principal
from api.schemas.access import ApiKey as ApiKeyReply
from api.schemas.access import KeyChange, MadeApiKey, NewApiKey
from api.services.shapes.access import api_key
from db.models import ApiKey
from db.repositories import api_keys
from db.types import utcnow


def add(session: Session, body: NewApiKey) -> MadeApiKey:
    """A new key; its text is in the reply and nowhere else. Raises ConflictError where the name is taken."""
    token = tokens.new_token()
    expires = None if body.days is None else utcnow() + timedelta(days=body.days)
    quotas = body.quotas.model_dump(exclude_none=True)
    row = api_keys.add(session, body.name, body.role, token.prefix, token.digest, quotas, expires)
    return MadeApiKey(**api_key(row).model_dump(), key=str(token))


def change(session: Session, key: str, body: KeyChange) -> ApiKeyReply:
    """Set the bounds of a key, by its id or its holder's name. Raises NotFoundError."""
    return api_key(api_keys.set_quotas(session, key, body.quotas.model_dump(exclude_none=True)))


def revoke(session: Session, key: str) -> None:
    """End a key, by its id or its holder's name; the row stays, for the audit. Raises NotFoundError."""
    api_keys.revoke(session, key)


def log_in(session: Session, text: str, address: str) -> Principal:
    """Whose key it is. Raises UnauthorizedError."""
    row = find_valid(session, text)
    if row is None:
        raise UnauthorizedError("this key is not valid here, or no longer; ask an admin for one")
    return Principal(row.name, row.role, address, row.quotas)


def find_valid(session: Session, text: str) -> ApiKey | None:
    """The key, unless it was revoked or has expired."""
    token = tokens.parse(text)
    if token is None:
        return None
    row = next((r for r in api_keys.with_prefix(session, token.prefix) if token.matches(r.hash)), None)
    if row is None or row.revoked_at is not None:
        return None
    return None if row.expires_at is not None and row.expires_at <= utcnow() else row
