"""Which tables of a database are ours."""

from typing import Any

from db.models import Base


def include_name(name: str | None, kind: str, _parents: Any) -> bool:
    """Look at our tables only: a database may hold others (Optuna's, another service's)."""
    return kind != "table" or name in Base.metadata.tables
