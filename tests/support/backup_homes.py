"""A database with rows in every table and a store with what they name, for tests of backups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dump_contract import fill, stored
from migrated import migrated
from sqlalchemy import update

from db.engine import Database
from db.migrate import upgrade
from db.models import Artifact, Build, Calibration, Node
from db.types import utcnow
from worker.store.artifacts import ArtifactStore
from worker.store.folder import FolderStore


@dataclass(frozen=True)
class Home:
    """A database and a store. Close it at the end."""

    database: Database
    store: ArtifactStore

    def rows(self) -> dict[str, list[Any]]:
        return stored(self.database)

    def digests(self) -> set[str]:
        """Of all that is stored, after reading it."""
        found = set(self.store.digests())
        for digest in found:
            self.store.read(digest)
        return found


def new_home(folder: Path, url: str | None = None) -> Home:
    """An empty one, with its database at `url` or in the folder."""
    if url is None:
        url = migrated(f"sqlite:///{folder}/millrace.db")
    else:
        upgrade(url)
    return Home(Database(url), FolderStore(folder / "store"))


def fill_home(home: Home) -> None:
    """Every table has rows, and all artifacts that they name are stored; one content more is named by none."""
    fill(home.database)
    with home.database.write() as session:
        session.execute(update(Artifact).values(digest=home.store.put_bytes(b"artifact")))
        session.execute(update(Build).values(log_digest=home.store.put_bytes(b"log")))
        session.execute(update(Calibration).values(digest=home.store.put_bytes(b"x" * 3_000_000)))
        named = {"area_model": home.store.put_bytes(b"named in options"), "text": "sha256:" + "ab" * 32}
        session.execute(update(Build).values(options=named))
    home.store.put_bytes(b"garbage")


def announce_node(home: Home) -> None:
    """A node that works on the database now."""
    with home.database.write() as session:
        session.add(
            Node(name="lab-7", capabilities={}, missing={}, cpus=1, memory_gb=1, version="0", last_seen=utcnow())
        )
