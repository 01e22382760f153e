"""Finds contents of the store that no row names, and deletes them.

What is younger than a day stays: a file is stored before the row that names it is written, and storing it again makes
it young. Nothing is deleted while a backup is made: it stores what rows named when it began.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from db.engine import Database
from db.repositories import leaders
from db.types import utcnow
from worker.backup.make import BACKUP, NOTHING, Without, named_digests
from worker.store.artifacts import ArtifactStore

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was found: contents and their bytes, and half-written files of writers that died. `deferred`: why it was not
    deleted.
    """

    contents: int
    bytes: int
    unfinished: int
    deferred: str | None = None


def collect(
    database: Database, store: ArtifactStore, *, delete: bool, age: timedelta = DAY, without: Without = NOTHING
) -> Garbage:
    """Find garbage that is older than `age`, also what would be garbage `without` these; delete it where asked to."""
    before = utcnow() - max(age, DAY)
    # The store first: a row that appears after its content was listed still keeps it.
    old = [content for content in store.contents() if content.stored_at < before]
    named = named_digests(database, without)
    garbage = [content for content in old if content.digest not in named]
    if delete and _is_backed_up(database):  # asked last: one that begins later reads what we have read, or less
        return Garbage(0, 0, 0, "a backup is being made; what nothing names is deleted after it")
    if delete:
        for content in garbage:
            _delete_old(store, content.digest, before)
    unfinished = store.discard_unfinished(before) if delete else 0
    return Garbage(len(garbage), sum(content.size for content in garbage), unfinished)


def _is_backed_up(database: Database) -> bool:
    with database.read() as session:
        return leaders.is_led(session, BACKUP)


def _delete_old(store: ArtifactStore, digest: str, before: datetime) -> None:
    """Unless it was stored again meanwhile."""
    stored_at = store.stored_at(digest)
    if stored_at is not None and stored_at < before:
        store.delete(digest)
