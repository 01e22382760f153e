"""What a backup consists of: a manifest, each table as JSON lines, and the artifacts that the rows name.

In a folder, which holds many backups and each artifact once:

    DIR/2026-11-21T22-30-05Z/manifest.json, builds.jsonl, ..., artifacts.jsonl
    DIR/store/sha256/ab/cdef...

In an archive (.tar, .tar.gz, .tar.zst), which holds one: the same files, without the folder that names its time.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.errors import BackupError
from worker.private import private_file

FORMAT = 1
MANIFEST = "manifest.json"
STORE = "store"
CONTENTS = "contents"
"""The part that lists the artifacts; the others are tables."""
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of JSON lines: how many, and the SHA-256 of the file."""

    lines: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: `version` of Millrace, `revision` of the schema, its files by name, the artifacts' bytes.

    `missing`: artifacts that rows name and that were not in the store.
    """

    version: str
    revision: str
    created_at: str
    parts: dict[str, Part]
    artifact_bytes: int
    missing: tuple[str, ...] = ()
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(part.lines for name, part in self.parts.items() if name != CONTENTS)

    @property
    def artifacts(self) -> int:
        return self.parts[CONTENTS].lines

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk, and the next reading of it come from there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Last of all files: a folder without one is an unfinished backup."""
    temporary = folder / f"{MANIFEST}.part"
    private_file(temporary)
    temporary.write_text(json.dumps(manifest.to_json(), indent=2) + "\n")
    sync(temporary)
    temporary.rename(folder / MANIFEST)
    sync(folder)
    sync(folder.parent)


def read_manifest(folder: Path) -> Manifest:
    """Raises BackupError for what is none, or one of another format."""
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        if found["format"] != FORMAT:
            raise BackupError(f"the backup has format {found['format']}; this Millrace reads format {FORMAT}")
        return _parsed(found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"this is no backup, or its manifest is damaged: {error!r}") from error


def _parsed(found: dict[str, Any]) -> Manifest:
    parts = {name: Part(**part) for name, part in found["parts"].items()}
    if CONTENTS not in parts:
        raise KeyError(CONTENTS)
    found["parts"], found["missing"] = parts, tuple(found["missing"])
    return Manifest(**found)


def new_stamp() -> str:
    """The name of a backup that is made now."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")


def newest_in(folder: Path) -> Path:
    """The newest finished backup in a folder, or the folder itself where it is one. Raises BackupError."""
    if (folder / MANIFEST).is_file():
        return folder
    finished = [p for p in folder.glob(f"*/{MANIFEST}") if _STAMP.fullmatch(p.parent.name)]
    if not finished:
        raise BackupError(f"there is no finished backup in {folder}; name the folder or archive of `farm backup`")
    return max(finished).parent


def part_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl"


def write_part(folder: Path, name: str, values: Iterable[str]) -> Part:
    """Write a part, whose lines are JSON, to the disk."""
    hasher, count = hashlib.sha256(), 0
    private_file(part_path(folder, name))
    with part_path(folder, name).open("wb") as file:
        for value in values:
            data = value.encode() + b"\n"
            hasher.update(data)
            file.write(data)
            count += 1
    sync(part_path(folder, name))
    return Part(count, hasher.hexdigest())


def read_part(folder: Path, name: str, part: Part) -> Iterator[Any]:
    """The values of a part. Raises BackupError where its file is absent or damaged, before the first of them."""
    path = part_path(folder, name)
    if not path.is_file() or _digest(path) != part.digest:
        raise BackupError(f"{path.name} of the backup is damaged or absent; restore another backup")
    with path.open("rb") as file:
        yield from map(json.loads, file)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
