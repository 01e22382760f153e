"""Simulated designs on SQLite."""

from simulation_contract import SimulationContract


class TestSimulationOnSqlite(SimulationContract):
    """On SQLite."""
