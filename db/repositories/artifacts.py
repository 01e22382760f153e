"""Artifacts: which files a build made. Their bytes are in the content-addressed store."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, delete, func, insert, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Artifact, Build


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
    """Files of the newest build of each stage that left any, by path; of the same path that of the later stage."""
    newest = (
        select(func.max(Artifact.build_id))
        .join(Build, Artifact.build_id == Build.id)
        .where(Artifact.design_id == design_id)
        .group_by(Build.stage)
    )
    later_last = case((Build.stage == "csim", 1), else_=0)
    query = select(Artifact).join(Build, Artifact.build_id == Build.id).where(Artifact.build_id.in_(newest))
    by_path = {a.path: a for a in session.scalars(query.order_by(later_last))}
    return [by_path[path] for path in sorted(by_path)]


def is_compiled(session: Session, design_id: str) -> bool:
    """Whether the whole design directory is stored; a simulation alone leaves what it read and found."""
    query = select(Artifact.id).join(Build, Artifact.build_id == Build.id)
    query = query.where(Artifact.design_id == design_id, Build.stage == "csim")
    return session.scalars(query.limit(1)).first() is not None


def find(session: Session, design_id: str, path: str) -> Artifact:
    """Raises NotFoundError."""
    for artifact in of_design(session, design_id):
        if artifact.path == path:
            return artifact
    raise NotFoundError("artifact", path)
