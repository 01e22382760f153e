"""The queue on SQLite."""

from queue_contract import QueueContract


class TestQueueOnSqlite(QueueContract):
    """On SQLite."""
