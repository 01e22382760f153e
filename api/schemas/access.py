"""Who may do what: keys, the session of a browser, the audit."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from api.schemas.common import Name, Reply, Request
from db.models import Role

_MAX_DAYS = 3650


class Quotas(Request):
    """One key's bounds; null is none."""

    active_explorations: Annotated[int, Field(ge=0)] | None = None
    """Explorations that are not at their end, at most."""
    open_builds: Annotated[int, Field(ge=0)] | None = None
    """Builds that are not at their end, at most: bounds those that are asked for, not those that explorations need."""
    running_builds: Annotated[int, Field(ge=0)] | None = None
    """Builds that run at once, at most: others wait for their end."""
    designs: Annotated[int, Field(ge=0)] | None = None
    """Designs, at most: those that are stored, and of explorations under way all that they may find."""
    stored_bytes: Annotated[int, Field(ge=0)] | None = None
    """Bytes of uploaded models and of files of builds, at most: where they are reached nothing is started. Each content
    counts once, logs do not.
    """
    upload_bytes: Annotated[int, Field(ge=0)] | None = None
    """Bytes of one upload, at most."""


class Me(Reply):
    """Who asks, as the service sees it."""

    access: bool
    """Whether the service asks for keys at all; where it does not, everybody is an admin."""
    name: str | None
    """Name of the key; null without one."""
    role: Role
    """What the key allows: viewer reads, user also starts and stops, admin does all, node is for workers."""
    quotas: dict[str, Any]
    """Bounds of the key, by name; see `Quotas`."""


class ApiKey(Reply):
    """A key, without its secret."""

    id: str
    """Identifier of the key; not the key itself."""
    name: str
    """What ownership and audit call its holder."""
    role: Role
    """What it allows; see `Me`."""
    prefix: str
    """The key's first characters, to tell it by."""
    quotas: dict[str, Any]
    """Its bounds, by name; see `Quotas`."""
    created_at: datetime
    """When it was made, UTC."""
    expires_at: datetime | None
    """When it stops being valid, UTC; null for never."""
    revoked_at: datetime | None
    """When it was revoked, UTC; null where it was not."""
    last_used_at: datetime | None
    """When it was last used, UTC, to the minute; null for never."""


class NewApiKey(Request):
    """The key to make."""

    name: Name
    """What ownership and audit call the holder."""
    role: Role = "user"
    """What it allows; see `Me`."""
    quotas: Quotas = Quotas()
    """Its bounds."""
    days: Annotated[int, Field(ge=1, le=_MAX_DAYS)] | None = None
    """Days for which it is valid; null for ever."""


class KeyChange(Request):
    """What is to be different of a key."""

    quotas: Quotas
    """All its bounds from now on: one that is not given is none."""


class MadeApiKey(ApiKey):
    """A new key, with its secret."""

    key: str
    """The key itself: shown this once and stored nowhere."""


class NewSession(Request):
    """The key to log in with."""

    key: Annotated[str, Field(min_length=1, max_length=200)]
    """The key to log in with."""


class AuditEntry(Reply):
    """Who changed what, or was not allowed to."""

    id: int
    """Number of the entry; later ones have greater ones."""
    at: datetime
    """When it happened, UTC."""
    who: str | None
    """Name of the key; null where nobody is asked for one."""
    address: str
    """Network address of the caller."""
    action: str
    """Method and route, or the command on the service's machine."""
    target: str | None
    """Id or name of what was changed; null where there is none."""
    detail: dict[str, Any]
    """What else was kept, by name."""
