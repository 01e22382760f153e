"""Who may do what: keys, the session of a browser, the audit."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from api.schemas.common import Name, Reply, Request
from db.models import Role

_MAX_DAYS = 3650


class Quotas(Request):
    """Bounds of one key; null is none. `upload_bytes` is for one upload."""

    active_explorations: Annotated[int, Field(ge=0)] | None = None
    open_builds: Annotated[int, Field(ge=0)] | None = None
    upload_bytes: Annotated[int, Field(ge=0)] | None = None


class Me(Reply):
    """Who asks, as the service sees it. `access`: whether it asks for keys at all; without, everybody is an admin."""

    access: bool
    name: str | None
    role: Role
    quotas: dict[str, Any]


class ApiKey(Reply):
    """A key, without its secret."""

    id: str
    name: str
    role: Role
    prefix: str
    quotas: dict[str, Any]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewApiKey(Request):
    """`name` is what ownership and audit call the holder; `days` how long it is valid, null for ever."""

    name: Name
    role: Role = "user"
    quotas: Quotas = Quotas()
    days: Annotated[int, Field(ge=1, le=_MAX_DAYS)] | None = None


class MadeApiKey(ApiKey):
    """A new key; `key` is shown this once and stored nowhere."""

    key: str


class NewSession(Request):
    """The key to log in with."""

    key: Annotated[str, Field(min_length=1, max_length=200)]


class AuditEntry(Reply):
    """Who changed what, or was not allowed to."""

    id: int
    at: datetime
    who: str | None
    address: str
    action: str
    target: str | None
    detail: dict[str, Any]
