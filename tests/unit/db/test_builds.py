"""Builds on SQLite."""

from build_contract import BuildContract


class TestBuildsOnSqlite(BuildContract):
    """On SQLite."""
