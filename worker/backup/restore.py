"""Restore a backup: artifacts first, each checked, then all tables in one transaction.

Interrupted, it has changed no table; started again, it goes on with the artifacts that are not stored yet.
"""

import hashlib
import re
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tarfile import TarFile, TarInfo
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast

from sqlalchemy.orm import Session

from db import dump
from db.engine import Database
from db.migrate import HEAD, upgrade
from db.repositories import nodes
from db.types import utcnow
from worker.backup.archive import archive_reader, is_archive
from worker.backup.files import CONTENTS, MANIFEST, STORE, Manifest, newest_in, read_manifest, read_part
from worker.backup.make import Progress
from worker.errors import BackupError, CorruptArtifactError
from worker.store.artifacts import CHUNK, ArtifactStore
from worker.store.folder import FolderStore
from worker.store.names import digest_at

_PART_NAME = re.compile(r"[a-z_]+\.jsonl")


def restore(database: Database, store: ArtifactStore, source: Path, *, replace: bool, progress: Progress) -> Manifest:
    """Fill database and store from the folder or archive; with `replace` in place of what the database holds.

    Raises BackupError: the backup is damaged or of another Millrace, the database has rows, or a node works on it.
    """
    upgrade(database.url)
    with database.read() as session:
        _check_target(session, replace)
    with _opened(source) as backup:
        _check_manifest(backup.manifest)
        _put_artifacts(backup, store, progress)
        _load_tables(database, backup, replace, progress)
        return backup.manifest


@dataclass(frozen=True, slots=True)
class _Backup:
    """An open backup: its parts lie in `folder`; of each of `artifacts` the file can be read once, in turn."""

    folder: Path
    manifest: Manifest
    artifacts: Iterable[tuple[str, BinaryIO]]

    def part(self, name: str) -> Iterator[dict[str, Any]]:
        return read_part(self.folder, name, self.manifest.parts[name])


@contextmanager
def _opened(source: Path) -> Generator[_Backup]:
    if not is_archive(source):
        folder = newest_in(source)
        manifest = read_manifest(folder)
        digests = (content["digest"] for content in read_part(folder, CONTENTS, manifest.parts[CONTENTS]))
        yield _Backup(folder, manifest, _files(FolderStore(folder.parent / STORE), digests))
        return
    with TemporaryDirectory(prefix="millrace-restore-") as name, archive_reader(source) as tar:
        rest = _unpack_parts(tar, Path(name))
        yield _Backup(Path(name), read_manifest(Path(name)), _members(tar, rest))


def _files(kept: FolderStore, digests: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    for digest in digests:
        with kept.path(digest).open("rb") as file:
            yield digest, file


def _unpack_parts(tar: TarFile, folder: Path) -> Iterator[TarInfo]:
    """Unpack what comes before the artifacts; the members from the first artifact on."""
    members = iter(tar)
    for member in members:
        if member.name.startswith(f"{STORE}/"):
            return chain([member], members)
        if member.name != MANIFEST and not _PART_NAME.fullmatch(member.name):
            raise BackupError(f"the archive holds {member.name!r}, which is no part of a backup; restore another one")
        with _content(tar, member) as file, (folder / member.name).open("wb") as copy:
            shutil.copyfileobj(file, copy)
    return iter(())


def _members(tar: TarFile, members: Iterable[TarInfo]) -> Iterator[tuple[str, BinaryIO]]:
    for member in members:
        digest = digest_at(member.name.removeprefix(f"{STORE}/"))
        if digest is None:
            raise BackupError(f"the archive holds {member.name!r}, which is no artifact; restore another one")
        with _content(tar, member) as file:
            yield digest, file


def _content(tar: TarFile, member: TarInfo) -> BinaryIO:
    file = tar.extractfile(member) if member.isreg() else None
    if file is None:
        raise BackupError(f"the archive holds {member.name!r}, which is no plain file; restore another one")
    return cast(BinaryIO, file)


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


def _put_artifacts(backup: _Backup, store: ArtifactStore, progress: Progress) -> None:
    sizes = {content["digest"]: int(content["size"]) for content in backup.part(CONTENTS)}
    done, total = 0, sum(sizes.values())
    missing = set(sizes)
    for digest, file in backup.artifacts:
        progress("artifacts", done, total)
        if not _holds(store, digest):
            store.put_chunks(_checked(digest, file))
        missing.discard(digest)
        done += sizes.get(digest, 0)
    progress("artifacts", done, total)
    if missing:
        raise BackupError(f"{len(missing)} artifacts of the backup are absent, among them {min(missing)[:12]}")


def _holds(store: ArtifactStore, digest: str) -> bool:
    """Whether the content is stored and whole; a damaged one is mended by storing it again."""
    try:
        return store.exists(digest) and store.path(digest).is_file()
    except CorruptArtifactError:
        return False


def _checked(digest: str, file: BinaryIO) -> Iterator[bytes]:
    """The file in chunks. Raises before it ends where it is another content: that is then not stored at all."""
    hasher = hashlib.sha256()
    while chunk := file.read(CHUNK):
        hasher.update(chunk)
        yield chunk
    found = hasher.hexdigest()
    if found != digest:
        raise BackupError(
            f"artifact {digest[:12]} of the backup is damaged (it is {found[:12]}); restore another backup"
        )


def _load_tables(database: Database, backup: _Backup, replace: bool, progress: Progress) -> None:
    names = dump.table_names()
    with database.write() as session:
        _check_target(session, replace)  # again: the artifacts may have taken hours
        connection = session.connection()
        if replace:
            dump.clear(connection)
        for done, name in enumerate(names):
            progress("tables", done, len(names))
            dump.load(connection, name, backup.part(name))
    progress("tables", len(names), len(names))
