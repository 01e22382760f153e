"""Keys and what was done with them as replies."""

from api.caller import keys_wanted
from api.principal import Principal
from api.schemas import access as replies
from db import models
from worker.settings import Settings


def me(settings: Settings, who: Principal) -> replies.Me:
    return replies.Me(access=keys_wanted(settings), name=who.name, role=who.role, quotas=who.quotas)


def api_key(row: models.ApiKey) -> replies.ApiKey:
    return replies.ApiKey(
        id=row.id,
        name=row.name,
        role=row.role,
        prefix=row.prefix,
        quotas=row.quotas,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )


def audit_entry(row: models.AuditEntry) -> replies.AuditEntry:
    return replies.AuditEntry(
        id=row.id,
        at=row.at,
        who=row.who,
        address=row.address,
        action=row.action,
        target=row.target,
        detail=row.detail,
    )
