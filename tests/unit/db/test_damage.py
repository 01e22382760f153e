"""A database file that is not whole is told from one that is away, and the error says what to do."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from migrated import migrated

from db import migrate
from db.damage import DamagedDatabaseError
from db.engine import Database
from db.models import AuditEntry
from db.repositories import audit

PAGE = 4096
ADVICE = r"is damaged \(.*\)\. Stop Millrace, .*: millrace farm restore BACKUP"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return migrated(f"sqlite:///{tmp_path}/millrace.db")


def damage_a_page(url: str) -> None:
    """Overwrite the pages of the audit, which nothing reads at a start."""
    database = Database(url)
    with database.write() as session:
        session.add_all(AuditEntry(address="", action="a" * 60, detail={"n": n}) for n in range(500))
    with database.read() as session:
        pages = session.execute(sa.text("SELECT pageno FROM dbstat WHERE name = 'audit'")).scalars().all()
    database.close()
    with Path(url.removeprefix("sqlite:///")).open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(b"\xff" * PAGE)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "millrace.db").write_bytes(b"not a database" * 1000)
    url = f"sqlite:///{tmp_path}/millrace.db"
    for use in (migrate.upgrade, migrate.check_whole):
        with pytest.raises(DamagedDatabaseError, match=ADVICE):
            use(url)


def test_a_page_that_nothing_reads_at_a_start(url: str) -> None:
    damage_a_page(url)
    migrate.upgrade(url)
    with pytest.raises(DamagedDatabaseError, match=ADVICE):
        migrate.check_whole(url)


def test_what_reads_the_page_is_told_and_remembered(url: str) -> None:
    damage_a_page(url)
    database = Database(url)
    with pytest.raises(DamagedDatabaseError, match="malformed"), database.read() as session:
        audit.page(session, None, None, 1000)
    assert database.damage is not None
    assert database.damage.path.endswith("millrace.db")
    database.close()


def test_whole_and_absent_databases_pass(url: str, tmp_path: Path) -> None:
    migrate.check_whole(url)
    migrate.check_whole(f"sqlite:///{tmp_path}/absent.db")
    migrate.check_whole("postgresql+psycopg://nowhere.invalid/x")
    assert not (tmp_path / "absent.db").exists()
