"""Alembic environment and revisions; run through `db.migrate.upgrade`."""
