"""Leases on SQLite."""

from lease_contract import LeaseContract


class TestLeasesOnSqlite(LeaseContract):
    """On SQLite."""
