"""Artifacts: which files a build made. Their bytes are in the content-addressed store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Artifact, Build

_NOT_YET = datetime.min.replace(tzinfo=UTC)
_GRAPH = "dataflow.json"  # what the compiler made of the design: its tasks, streams, and where they lie


@dataclass(frozen=True, slots=True)
class NewArtifact:
    """One file: its path inside the design directory and the digest of its bytes."""

    path: str
    digest: str
    size: int
    media_type: str


def replace(session: Session, build_id: str, design_id: str | None, files: Sequence[NewArtifact]) -> None:
    """Make `files` the artifacts of the build."""
    session.execute(delete(Artifact).where(Artifact.build_id == build_id))
    rows = [
        {
            "build_id": build_id,
            "design_id": design_id,
            "path": f.path,
            "digest": f.digest,
            "size": f.size,
            "media_type": f.media_type,
        }
        for f in files
    ]
    if rows:
        session.execute(insert(Artifact), rows)


def of_design(session: Session, design_id: str) -> Sequence[Artifact]:
    """Files of the newest done build of each stage, else of the newest, by path; of the same path that of the build
    that wrote the whole directory, else that ended later. All are of one compile: what another version of the compiler
    left is not among them.
    """
    merged: dict[str, Artifact] = {}
    for _, files in sorted(_of_one_compile(session, design_id), key=_is_whole):
        merged |= files
    return [merged[path] for path in sorted(merged)]


def _of_one_compile(session: Session, design_id: str) -> list[tuple[Build, dict[str, Artifact]]]:
    """The builds whose files count, in the order in which they ended: of those that compiled the design the newest, and
    the others that made the same of it.
    """
    found = [(build, _files(session, build)) for build in _newest_of_stages(session, design_id)]
    compiled = [files[_GRAPH].digest for _, files in found if _GRAPH in files]
    return [(b, files) for b, files in found if _GRAPH not in files or files[_GRAPH].digest == compiled[-1]]


def _newest_of_stages(session: Session, design_id: str) -> list[Build]:
    """The build of each stage whose files count, of those that have any, in the order in which they ended."""
    has_files = select(Artifact.id).where(Artifact.build_id == Build.id).exists()
    found = session.scalars(select(Build).where(Build.design_id == design_id, has_files)).all()
    newest: dict[str, Build] = {}
    for build in sorted(found, key=lambda b: (b.state == "done", _ended(b))):
        newest[build.stage] = build
    return sorted(newest.values(), key=_ended)


def _files(session: Session, build: Build) -> dict[str, Artifact]:
    return {found.path: found for found in session.scalars(select(Artifact).where(Artifact.build_id == build.id))}


def _ended(build: Build) -> tuple[datetime, str]:
    return build.finished_at or _NOT_YET, build.id


def is_compiled(session: Session, design_id: str) -> bool:
    """Whether the whole design directory is stored; a simulation alone leaves what it read and found."""
    return any(map(_is_whole, _of_one_compile(session, design_id)))


def _is_whole(found: tuple[Build, dict[str, Artifact]]) -> bool:
    """A design.json has the digests of all files beside it: that of a simulation says nothing of C++."""
    return found[0].stage == "csim"


def find(session: Session, design_id: str, path: str) -> Artifact:
    """Raises NotFoundError."""
    for artifact in of_design(session, design_id):
        if artifact.path == path:
            return artifact
    raise NotFoundError("artifact", path)
