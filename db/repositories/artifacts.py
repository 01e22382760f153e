"""Artifacts: which files a build made. Their bytes are in the content-addressed store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.models import Artifact, Build

_NOT_YET = datetime.min.replace(tzinfo=UTC)
_TOGETHER = ("simulation.json", "dataflow.json")


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
    that ended later. What belongs together is of one build: a simulation beside the graph that it simulated.
    """
    chosen = _newest_of_stages(session, design_id)
    files: dict[str, dict[str, Artifact]] = {build.id: {} for build in chosen}
    for artifact in session.scalars(select(Artifact).where(Artifact.build_id.in_(files))):
        files[artifact.build_id][artifact.path] = artifact
    merged: dict[str, Artifact] = {}
    for build in chosen:
        merged |= files[build.id]
    _keep_together(merged, [files[build.id] for build in chosen])
    return [merged[path] for path in sorted(merged)]


def _newest_of_stages(session: Session, design_id: str) -> list[Build]:
    """The build of each stage whose files count, of those that have any, in the order in which they ended."""
    has_files = select(Artifact.id).where(Artifact.build_id == Build.id).exists()
    found = session.scalars(select(Build).where(Build.design_id == design_id, has_files)).all()
    newest: dict[str, Build] = {}
    for build in sorted(found, key=lambda b: (b.state == "done", _ended(b))):
        newest[build.stage] = build
    return sorted(newest.values(), key=_ended)


def _ended(build: Build) -> tuple[datetime, str]:
    return build.finished_at or _NOT_YET, build.id


def _keep_together(merged: dict[str, Artifact], sources: Sequence[dict[str, Artifact]]) -> None:
    simulation, graph = _TOGETHER
    if simulation not in merged or graph not in merged:
        return
    both = [files for files in sources if simulation in files and graph in files]
    if both:
        merged.update({path: both[-1][path] for path in _TOGETHER})
    else:
        del merged[simulation]


def is_compiled(session: Session, design_id: str) -> bool:
    """Whether the whole design directory is stored; a simulation alone leaves what it read and found."""
    query = select(Artifact.id).join(Build, Artifact.build_id == Build.id)
    query = query.where(Build.design_id == design_id, Build.stage == "csim")
    return session.scalars(query.limit(1)).first() is not None


def find(session: Session, design_id: str, path: str) -> Artifact:
    """Raises NotFoundError."""
    for artifact in of_design(session, design_id):
        if artifact.path == path:
            return artifact
    raise NotFoundError("artifact", path)
