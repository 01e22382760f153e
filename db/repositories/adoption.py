"""The cache of builds: what one build found is the answer for every other build with the same key.

Done builds are adopted, and failed ones whose failure lies in the inputs ("infeasible"): they would fail again.
"""

from typing import cast

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from db.models import Artifact, Build, BuildState, DesignStage, Metric
from db.repositories import artifacts, designs
from db.repositories.artifacts import NewArtifact
from db.repositories.designs import NewMetric

WAITING: tuple[BuildState, ...] = ("blocked", "queued")


def adopt_any(session: Session, build: Build) -> bool:
    """Give the build what the newest ended build with its key found; False when there is none."""
    twin = _ended_twin(session, build)
    if twin is not None:
        adopt(session, build, twin)
    return twin is not None


def adopt(session: Session, build: Build, twin: Build) -> None:
    """End the build with the verdict, log, files, metrics and, of a search, the designs of its twin."""
    build.state, build.failure, build.error = twin.state, twin.failure, twin.error
    build.verdict, build.log_digest, build.tool_versions = twin.verdict, twin.log_digest, twin.tool_versions
    build.started_at, build.finished_at = twin.started_at, twin.finished_at
    build.adopted_from = twin.adopted_from or twin.id
    build.fair_tag, build.not_before, build.seconds = 0.0, None, None
    build.lease_owner, build.lease_expires, build.expired_at = None, None, None
    session.flush()
    _copy_files(session, build, twin)
    if build.stage == "search":
        _copy_designs(session, build, twin)
    elif build.design_id is not None and twin.design_id is not None:
        _copy_metrics(session, build, build.design_id, twin, twin.design_id)


def waiting_twins(session: Session, build: Build) -> list[Build]:
    """Builds with the same key that have not begun, oldest first, locked."""
    query = select(Build).where(Build.key == build.key, Build.id != build.id, Build.state.in_(WAITING))
    return list(session.scalars(query.order_by(Build.id).with_for_update()))


def _ended_twin(session: Session, build: Build) -> Build | None:
    # A design whose stage was run again by other tools has lost the metrics of this key: prefer one that has them.
    has_metrics = select(Metric.id).where(Metric.design_id == Build.design_id, Metric.build_id == Build.id).exists()
    infeasible = and_(Build.state == "failed", Build.failure == "infeasible")
    query = select(Build).where(Build.key == build.key, Build.id != build.id, Build.expired_at.is_(None))
    query = query.where(or_(Build.state == "done", infeasible))
    newest = query.order_by(Build.state, has_metrics.desc(), Build.finished_at.desc(), Build.id.desc()).limit(1)
    # Locked: what it names must not expire, nor be deleted, before this transaction names it too.
    return session.scalars(newest.with_for_update(read=True, of=Build)).first()


def _copy_files(session: Session, build: Build, twin: Build) -> None:
    found = session.scalars(select(Artifact).where(Artifact.build_id == twin.id).order_by(Artifact.id))
    files = [NewArtifact(a.path, a.digest, a.size, a.media_type) for a in found]
    artifacts.replace(session, build.id, build.design_id, files)


def _copy_designs(session: Session, build: Build, twin: Build) -> None:
    if build.exploration_id is not None and twin.exploration_id is not None:
        first = build.options["first"]
        designs.copy(session, twin.exploration_id, build.exploration_id, first, first + build.options["count"])


def _copy_metrics(session: Session, build: Build, design_id: str, twin: Build, twin_design: str) -> None:
    query = select(Metric).where(Metric.design_id == twin_design, Metric.build_id == twin.id)
    found = session.scalars(query.order_by(Metric.id))
    copies = [NewMetric(m.name, m.value, m.unit, m.fidelity, m.tool, m.tool_version) for m in found]
    if copies or twin.state == "done":  # a failure that measured nothing leaves what is known
        designs.record_build(session, design_id, build.id, cast("DesignStage", build.stage), copies)
    if build.stage == "simulate":
        source = designs.get(session, twin_design)
        designs.set_simulated(session, design_id, source.simulated_us, source.refuted, source.flags)
    if build.stage in ("simulate", "link"):
        designs.retime(session, design_id)
