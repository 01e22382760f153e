"""Keys for tests of an API that asks for them."""

from typing import Any

from api.schemas.access import NewApiKey, Quotas
from api.services import keys
from db.models import Role
from worker.farm import Farm


def add_key(farm: Farm, name: str, role: Role, **bounds: Any) -> str:
    """Its text."""
    with farm.database.write() as session:
        return keys.add(session, NewApiKey(name=name, role=role, quotas=Quotas(**bounds))).key


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
