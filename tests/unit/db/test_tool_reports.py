"""Which reports of Vitis a refit reads, on SQLite."""

from tool_reports_contract import ToolReportsContract


class TestToolReportsOnSqlite(ToolReportsContract):
    """On SQLite."""
