"""The farm's smaller tables on SQLite."""

from farm_tables_contract import FarmTablesContract


class TestFarmTablesOnSqlite(FarmTablesContract):
    """On SQLite."""
