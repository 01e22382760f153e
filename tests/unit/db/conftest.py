"""A migrated SQLite database with one exploration."""

from collections.abc import Generator
from pathlib import Path

import pytest
from migrated import migrated

from db.engine import Database
from db.models import Exploration
from db.repositories import catalog, explorations


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    url = f"sqlite:///{tmp_path}/test.db"
    migrated(url)
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def exploration(database: Database) -> Exploration:
    with database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        return explorations.add(session, workload, "u55c", ["latency", "energy"], {"seed": 0}, 100)
