"""Back a farm up while it runs: first the tables as they are at one moment, then the artifacts, which never change."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from db import dump
from db.engine import Database
from db.migrate import HEAD, current_revision
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
    write_manifest,
    write_part,
)
from worker.errors import BackupError
from worker.ladder.versions import millrace_version
from worker.store.artifacts import ArtifactStore
from worker.store.folder import FolderStore
from worker.store.names import key_of

Progress = Callable[[str, int, int], None]
"""`progress(what, done, total)`; `what` is "tables" (counted in tables) or "artifacts" (in bytes)."""

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
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
    if is_archive(target):
        return _to_archive(database, store, target, progress)
    return _to_folder(database, store, target, progress)


def named_digests(database: Database) -> set[str]:
    """Every digest that any row holds anywhere: of artifacts, and of other things."""
    found: set[str] = set()
    with dump.snapshot(database.engine) as connection:
        for name in dump.table_names():
            for row in dump.rows(connection, name):
                found.update(_DIGEST.findall(json.dumps(row)))
    return found


def _to_folder(database: Database, store: ArtifactStore, target: Path, progress: Progress) -> Manifest:
    kept = FolderStore(target / STORE)
    folder = target / new_stamp()
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise BackupError(f"{folder} is there already; start the backup again") from None
    manifest, contents = _write_parts(database, store, folder, progress)
    for digest in _counted(contents, progress):
        if not kept.exists(digest):
            kept.put_file(store.path(digest))
    write_manifest(manifest, folder)
    return manifest


def _to_archive(database: Database, store: ArtifactStore, target: Path, progress: Progress) -> Manifest:
    if target.exists():
        raise BackupError(f"{target} is there already; name another file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=".millrace-backup-") as name, archive_writer(target) as tar:
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
            lines = _lines(dump.rows(connection, name), _NAMES_ARTIFACT.get(name), held, required)
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
