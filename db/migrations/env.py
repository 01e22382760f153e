"""Alembic environment: one online path, on the connection that `db.migrate` hands over."""

from alembic import context

from db.migrations.env_filter import include_name
from db.models import Base


def run() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        include_name=include_name,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
