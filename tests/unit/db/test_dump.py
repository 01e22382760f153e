import json
from collections.abc import Generator
from pathlib import Path

import pytest
from dump_contract import DumpContract, dumped, fill

from db.engine import Database
from db.migrate import upgrade


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    url = f"sqlite:///{tmp_path}/a.db"
    upgrade(url)
    opened = Database(url)
    yield opened
    opened.close()


class TestDumpOnSqlite(DumpContract):
    """On SQLite."""


def test_rows_are_plain_json(database: Database) -> None:
    fill(database)
    found = dumped(database)
    assert json.loads(json.dumps(found)) == found
    assert found["builds"][0]["created_at"] == "2026-01-31T23:59:59.123456+00:00"
