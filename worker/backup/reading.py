"""Reads a backup: its parts, and each artifact in turn. Every byte is checked on the way."""

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

from worker.backup.archive import archive_reader, is_archive
from worker.backup.files import CONTENTS, MANIFEST, STORE, Manifest, newest_in, read_manifest, read_part
from worker.errors import BackupError
from worker.store.artifacts import CHUNK
from worker.store.folder import FolderStore
from worker.store.names import digest_at

_PART_NAME = re.compile(r"[a-z_]+\.jsonl")


@dataclass(frozen=True, slots=True)
class OpenBackup:
    """An open backup: its parts lie in `folder`; of each of `artifacts` the file can be read once, in turn."""

    folder: Path
    manifest: Manifest
    artifacts: Iterable[tuple[str, BinaryIO]]

    def part(self, name: str) -> Iterator[dict[str, Any]]:
        return read_part(self.folder, name, self.manifest.parts[name])


@contextmanager
def open_backup(source: Path, name: Path | None = None) -> Generator[OpenBackup]:
    """A backup to be read; an archive may lie where its name does not say how it is packed."""
    name = name or source
    if not is_archive(name):
        folder = newest_in(source)
        manifest = read_manifest(folder)
        digests = (content["digest"] for content in read_part(folder, CONTENTS, manifest.parts[CONTENTS]))
        yield OpenBackup(folder, manifest, _files(FolderStore(folder.parent / STORE), digests))
        return
    with TemporaryDirectory(prefix="millrace-restore-") as folder, archive_reader(source, name) as tar:
        rest = _unpack_parts(tar, Path(folder))
        yield OpenBackup(Path(folder), read_manifest(Path(folder)), _members(tar, rest))


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


def checked(digest: str, file: BinaryIO) -> Iterator[bytes]:
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


def check_archive(source: Path, name: Path) -> None:
    """Read an archive from its first byte to its last. Raises BackupError where it can not be restored."""
    with open_backup(source, name) as backup:
        for part in backup.manifest.parts:
            for _ in backup.part(part):
                pass
        missing = {content["digest"] for content in backup.part(CONTENTS)}
        for digest, file in backup.artifacts:
            for _ in checked(digest, file):
                pass
            missing.discard(digest)
    if missing:
        raise BackupError(f"{len(missing)} artifacts are not in the archive, among them {min(missing)[:12]}")
