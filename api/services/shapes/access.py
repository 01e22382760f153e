"""Keys and what was done with them as replies."""

from api.caller import keys_wanted
from api.principal import Principal
from api.schemas import access as replies
from db import models
from worker.settings import Settings


def me(settings: Settings, who: Principal) -> replies.Me:
    return replies.Me.of(who, access=keys_wanted(settings))


def api_key(row: models.ApiKey) -> replies.ApiKey:
    return replies.ApiKey.of(row)


def audit_entry(row: models.AuditEntry) -> replies.AuditEntry:
    return replies.AuditEntry.of(row)
