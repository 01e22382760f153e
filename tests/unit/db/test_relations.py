"""How builds hang together, on SQLite."""

from relations_contract import RelationsContract


class TestRelationsOnSqlite(RelationsContract):
    """On SQLite."""
