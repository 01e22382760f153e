"""Back a farm up while it runs: first the tables as they are at one moment, then the artifacts, which never change.

What was written is on the disk and was read back before the backup counts as one.
"""

import json
import re
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from db import dump
from db.engine import Database
from db.migrate import HEAD, current_revision
from db.repositories import leaders
from db.types import utcnow
from worker.backup.archive import archive_writer, is_archive
from worker.backup.files import (
    CONTENTS,
    MANIFEST,
    STORE,
    Manifest,
    Part,
    new_stamp,
    part_path,
    read_part,
    sync,
    write_manifest,
    write_part,
)
from worker.backup.reading import check_archive
from worker.errors import BackupError
from worker.ladder.versions import millrace_version
from worker.processes import is_dead, slot_identity
from worker.store.artifacts import ArtifactStore
from worker.store.folder import FolderStore
from worker.store.names import key_of

Progress = Callable[[str, int, int], None]
"""`progress(what, done, total)`; `what` is "tables" (counted in tables) or "artifacts" (in bytes)."""

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
BACKUP = "backup"
"""What `db.repositories.leaders` calls the task: while somebody leads it no content is deleted."""
_LEASE_SECONDS = 3600.0
_RENEW_SECONDS = 60.0
_NAMES_ARTIFACT = {"artifacts": "digest", "builds": "log_digest", "calibrations": "digest"}
"""Columns that always name an artifact. Options and configurations name some too."""


def back_up(database: Database, store: ArtifactStore, target: Path, progress: Progress) -> Manifest:
    """Write a backup to `target`: into that folder, beside those that it holds, or as that archive.

    Raises BackupError where the database is empty or of another revision, or the archive is there already.
    """
    revision = current_revision(database.engine)
    if revision != HEAD:
        raise BackupError(
            f"the database has revision {revision}, this Millrace works with {HEAD}; start the farm's own version once"
        )
    write = _to_archive if is_archive(target) else _to_folder
    with _announced(database) as still_here:

        def renewing(what: str, done: int, total: int) -> None:
            still_here()
            progress(what, done, total)

        return write(database, store, target, renewing)


@contextmanager
def _announced(database: Database) -> Generator[Callable[[], None]]:
    """Keep others from deleting contents meanwhile; call what it yields now and then. Raises BackupError."""
    me, renewed = slot_identity(), time.monotonic()

    def lead() -> None:
        with database.write() as session:
            before = leaders.holder(session, BACKUP)
            if before is not None and is_dead(before):
                leaders.end(session, BACKUP, before)
            if not leaders.lead(session, BACKUP, me, _LEASE_SECONDS):
                raise BackupError("another backup is being made; start this one when that has ended")

    def still_here() -> None:
        nonlocal renewed
        if time.monotonic() - renewed > _RENEW_SECONDS:
            lead()
            renewed = time.monotonic()

    lead()
    try:
        yield still_here
    finally:
        with database.write() as session:
            leaders.end(session, BACKUP, me)


Without = tuple[Collection[str], Collection[str]]
"""Builds whose logs, and builds whose files, are taken for gone."""
NOTHING: Without = ((), ())


def named_digests(database: Database, without: Without = NOTHING) -> set[str]:
    """Every digest that any row holds anywhere, of artifacts and of other things, `without` those of these builds."""
    logs, files = without
    found: set[str] = set()
    with dump.snapshot(database.engine) as connection:
        for name in dump.table_names():
            for row in dump.rows(connection, name):
                if name == "artifacts" and row["build_id"] in files:
                    continue
                if name == "builds" and row["id"] in logs:
                    row |= {"log_digest": None, "history": [{**e, "log_digest": None} for e in row["history"]]}
                found.update(_DIGEST.findall(json.dumps(row)))
    return found


def _to_folder(database: Database, store: ArtifactStore, target: Path, progress: Progress) -> Manifest:
    kept = FolderStore(target / STORE)
    folder = target / new_stamp()
    try:
        folder.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise BackupError(f"{folder} is there already; start the backup again") from None
    manifest, contents = _write_parts(database, store, folder, progress)
    for digest in _counted(contents, progress):
        if not kept.is_whole(digest):  # one of an earlier backup may be damaged by now
            kept.put_file(store.path(digest))
            sync(kept.path(digest))
            kept.path(digest)
    for name, part in manifest.parts.items():
        for _ in read_part(folder, name, part):
            pass
    write_manifest(manifest, folder)
    return manifest


def _to_archive(database: Database, store: ArtifactStore, target: Path, progress: Progress) -> Manifest:
    if target.exists():
        raise BackupError(f"{target} is there already; name another file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=target.parent, prefix=".millrace-backup-") as name,
        archive_writer(target, check_archive) as tar,
    ):
        folder = Path(name)
        manifest, contents = _write_parts(database, store, folder, progress)
        write_manifest(manifest, folder)
        for path in (folder / MANIFEST, *(part_path(folder, part) for part in manifest.parts)):
            tar.add(path, path.name)
        for digest in _counted(contents, progress):
            tar.add(store.path(digest), f"{STORE}/{key_of(digest)}")
    return manifest


def _write_parts(
    database: Database, store: ArtifactStore, folder: Path, progress: Progress
) -> tuple[Manifest, Mapping[str, int]]:
    """Every part into `folder`; the manifest, and the artifacts' sizes by digest."""
    manifest = Manifest(millrace_version(), HEAD, utcnow().isoformat(), {}, 0)
    held: set[str] = set()
    required: set[str] = set()
    names = dump.table_names()
    with dump.snapshot(database.engine) as connection:
        for done, name in enumerate(names):
            progress("tables", done, len(names))
            found = (row for row in dump.rows(connection, name) if row.get("task") != BACKUP)
            lines = _lines(found, _NAMES_ARTIFACT.get(name), held, required)
            manifest.parts[name] = write_part(folder, name, lines)
    progress("tables", len(names), len(names))
    # After the tables: what a row of the snapshot names was stored before.
    contents = {c.digest: c.size for c in store.contents() if c.digest in held}
    manifest.parts[CONTENTS] = _write_contents(folder, contents)
    missing = tuple(sorted(required - contents.keys()))
    return replace(manifest, artifact_bytes=sum(contents.values()), missing=missing), contents


def _lines(rows: Iterable[Mapping[str, Any]], column: str | None, held: set[str], required: set[str]) -> Iterator[str]:
    """Rows as JSON; the digests that they hold, and those in `column`, are added to the sets."""
    for row in rows:
        line = json.dumps(row)
        held.update(_DIGEST.findall(line))
        if column is not None and row[column]:
            required.add(row[column])
        yield line


def _write_contents(folder: Path, contents: Mapping[str, int]) -> Part:
    return write_part(folder, CONTENTS, (json.dumps({"digest": d, "size": s}) for d, s in sorted(contents.items())))


def _counted(contents: Mapping[str, int], progress: Progress) -> Iterator[str]:
    """The digests in order, with the bytes of those that were dealt with as progress."""
    done, total = 0, sum(contents.values())
    for digest in sorted(contents):
        progress("artifacts", done, total)
        yield digest
        done += contents[digest]
    progress("artifacts", done, total)
