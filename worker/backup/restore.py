"""Restore a backup: artifacts first, each checked, then all tables in one transaction.

Interrupted, it has changed no table; started again, it goes on with the artifacts that are not stored yet.
"""

from pathlib import Path

from sqlalchemy.orm import Session

from db import dump
from db.engine import Database
from db.migrate import HEAD, Seal, upgrade
from db.repositories import leases, nodes
from db.types import utcnow
from worker.backup.files import CONTENTS, Manifest
from worker.backup.make import Progress
from worker.backup.reading import OpenBackup, checked, open_backup
from worker.errors import BackupError
from worker.store.artifacts import ArtifactStore


def restore(
    database: Database,
    store: ArtifactStore,
    source: Path,
    *,
    replace: bool,
    progress: Progress,
    seal: Seal | None = None,
) -> Manifest:
    """Fill database and store from the folder or archive; with `replace` in place of what the database holds, which is
    brought up to date before, its secrets sealed.

    Raises BackupError: the backup is damaged or of another Millrace, the database has rows, or a node works on it.
    """
    upgrade(database.url, seal)
    with database.read() as session:
        _check_target(session, replace)
    with open_backup(source) as backup:
        _check_manifest(backup.manifest)
        _put_artifacts(backup, store, progress)
        _load_tables(database, backup, replace, progress)
        return backup.manifest


def _check_target(session: Session, replace: bool) -> None:
    alive = [node.name for node in nodes.all(session) if node.last_seen > utcnow() - nodes.LOST_AFTER]
    if alive:
        raise BackupError(
            f"{', '.join(alive)} worked on this database just now; stop all of Millrace, wait two minutes, then restore"
        )
    if not replace and not dump.is_empty(session.connection()):
        raise BackupError(
            "the database is not empty; restore into an empty one (MILLRACE_HOME or MILLRACE_DATABASE_URL), or give "
            "--replace to delete all that it holds"
        )


def _check_manifest(manifest: Manifest) -> None:
    if manifest.revision > HEAD:
        raise BackupError(
            f"the backup has revision {manifest.revision} of the database, this Millrace works with {HEAD}; restore it "
            f"with Millrace {manifest.version}, which made it, or a later one"
        )
    if manifest.revision != HEAD:
        raise BackupError(
            f"the backup has revision {manifest.revision} of the database, this is {HEAD}: restore it with Millrace "
            f"{manifest.version}, then start this one, which brings the database up to date"
        )
    absent = set(dump.table_names()) - manifest.parts.keys()
    if absent:
        raise BackupError(f"the backup lacks the table {min(absent)}; restore another backup")


def _put_artifacts(backup: OpenBackup, store: ArtifactStore, progress: Progress) -> None:
    sizes = {content["digest"]: int(content["size"]) for content in backup.part(CONTENTS)}
    done, total = 0, sum(sizes.values())
    missing = set(sizes)
    for digest, file in backup.artifacts:
        progress("artifacts", done, total)
        if not store.is_whole(digest):
            store.put_chunks(checked(digest, file))
        missing.discard(digest)
        done += sizes.get(digest, 0)
    progress("artifacts", done, total)
    if missing:
        raise BackupError(f"{len(missing)} artifacts of the backup are absent, among them {min(missing)[:12]}")


def _load_tables(database: Database, backup: OpenBackup, replace: bool, progress: Progress) -> None:
    names = dump.table_names()
    with database.write() as session:
        _check_target(session, replace)  # again: the artifacts may have taken hours
        connection = session.connection()
        if replace:
            dump.clear(connection)
        for done, name in enumerate(names):
            progress("tables", done, len(names))
            dump.load(connection, name, backup.part(name))
        for build_id, _ in leases.held(session):
            leases.revoke(session, build_id)  # whoever held it does not work for this database
    progress("tables", len(names), len(names))
