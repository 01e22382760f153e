"""Simulated designs on SQLite."""

from pathlib import Path

from simulation_contract import SimulationContract, store_design_of_first_release

from db.engine import Database
from db.migrate import upgrade
from db.repositories import designs


class TestSimulationOnSqlite(SimulationContract):
    """On SQLite."""


def test_designs_of_the_first_release_stay(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    design = store_design_of_first_release(url)
    upgrade(url)
    database = Database(url)
    with database.read() as session:
        found = designs.get(session, design)
        assert (found.latency_us, found.simulated_us, found.deadlock, found.flags) == (1.0, None, None, [])
    database.close()
