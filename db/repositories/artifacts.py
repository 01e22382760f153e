"""Artifacts: which files a build made. Their bytes are in the content-addressed store."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Artifact


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
    """Files of the design's newest build that left any, by path."""
    newest = (
        select(Artifact.build_id).where(Artifact.design_id == design_id).order_by(Artifact.build_id.desc()).limit(1)
    )
    query = select(Artifact).where(Artifact.build_id == newest.scalar_subquery()).order_by(Artifact.path)
    return session.scalars(query).all()


def find(session: Session, design_id: str, path: str) -> Artifact:
    """Raises NotFoundError."""
    for artifact in of_design(session, design_id):
        if artifact.path == path:
            return artifact
    raise NotFoundError("artifact", path)
