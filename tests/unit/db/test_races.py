"""Many workers at once on SQLite."""

from race_contract import RaceContract


class TestRacesOnSqlite(RaceContract):
    """On SQLite."""
