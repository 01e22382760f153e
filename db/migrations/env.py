"""Alembic environment: one online path, on the connection that `db.migrate` hands over."""

from typing import Any

from alembic import context

from db.models import Base


def include_name(name: str | None, kind: str, _parents: Any) -> bool:
    """Look at our tables only: a database may hold others (Optuna's, another service's)."""
    return kind != "table" or name in Base.metadata.tables


def run() -> None:
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_name=include_name,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
