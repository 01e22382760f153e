"""Builds: one stage of one design or workload, run at most once per key."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.ids import new_id
from db.models import Artifact, Build, Design, DesignStage, Failure, Metric, Stage
from db.repositories import designs
from db.repositories._statements import insert_or_ignore, rowcount
from db.types import utcnow

_NOT_RUNNABLE = ("failed", "cancelled")


def ensure(
    session: Session,
    stage: Stage,
    key: str,
    tool_versions: dict[str, Any],
    *,
    design_id: str | None = None,
    workload_id: str | None = None,
) -> Build:
    """The build of this design or workload with `key`, queued now if it is new.

    When another design has finished a build with the same key, what it found is this one's too: verdict, artifacts,
    metrics.
    """
    values = {"id": new_id("bld"), "design_id": design_id, "workload_id": workload_id, "stage": stage, "key": key}
    values |= {"state": "queued", "tool_versions": tool_versions, "lease_token": 0, "losses": 0}
    is_new = insert_or_ignore(session, Build, {**values, "created_at": utcnow()})
    query = select(Build).where(Build.key == key, Build.design_id == design_id, Build.workload_id == workload_id)
    build = session.scalars(query).one()
    if is_new:
        _adopt(session, build)
    return build


def _adopt(session: Session, build: Build) -> None:
    query = select(Build).where(Build.key == build.key, Build.state == "done", Build.id != build.id)
    twin = session.scalars(query.order_by(Build.id)).first()
    if twin is None:
        return
    build.state, build.verdict, build.log_digest = "done", twin.verdict, twin.log_digest
    build.tool_versions = twin.tool_versions
    build.started_at, build.finished_at = twin.started_at, twin.finished_at
    for artifact in session.scalars(select(Artifact).where(Artifact.build_id == twin.id)):
        session.add(
            Artifact(
                build_id=build.id,
                design_id=build.design_id,
                path=artifact.path,
                digest=artifact.digest,
                size=artifact.size,
                media_type=artifact.media_type,
            )
        )
    session.flush()
    if build.design_id is not None and twin.design_id is not None:
        _adopt_metrics(session, build.design_id, build.id, designs.get(session, twin.design_id), twin.id)


def _adopt_metrics(session: Session, design_id: str, build_id: str, twin: Design, twin_build: str) -> None:
    found = session.scalars(select(Metric).where(Metric.build_id == twin_build).order_by(Metric.id))
    copies = [designs.NewMetric(m.name, m.value, m.unit, m.fidelity, m.tool, m.tool_version) for m in found]
    if copies:
        designs.record_build(session, design_id, build_id, copies[0].fidelity, copies)
        designs.set_simulated(session, design_id, twin.simulated_us, twin.deadlock, twin.flags)


def requeue(session: Session, build_id: str) -> bool:
    """Queue a failed or cancelled build again; False when it is in another state."""
    result = session.execute(
        update(Build)
        .where(Build.id == build_id, Build.state.in_(_NOT_RUNNABLE))
        .values(state="queued", error=None, failure=None, verdict=None, losses=0, finished_at=None, enqueued_at=None)
        .execution_options(synchronize_session=False)
    )
    session.expire_all()
    return rowcount(result) > 0


def get(session: Session, build_id: str) -> Build:
    build = session.get(Build, build_id)
    if build is None:
        raise NotFoundError("build", build_id)
    return build


def exploration_of(session: Session, build_id: str) -> str | None:
    """Id of the exploration whose design the build is of; None for the import of a workload."""
    query = select(Design.exploration_id).join(Build, Build.design_id == Design.id).where(Build.id == build_id)
    return session.scalars(query).first()


def start(session: Session, build_id: str) -> None:
    """Note that a worker has begun; the caller holds the lease."""
    _set(session, build_id, state="running", started_at=utcnow(), finished_at=None)


def finish(session: Session, build_id: str, verdict: dict[str, Any] | None, tool_versions: dict[str, Any]) -> None:
    """Record the result and give the lease back; the caller has fenced."""
    values = {"verdict": verdict, "tool_versions": tool_versions, "lease_owner": None, "lease_expires": None}
    _set(session, build_id, state="done", finished_at=utcnow(), **values)


def fail(session: Session, build_id: str, failure: Failure, error: str) -> None:
    """Record why the build failed and give the lease back; the caller has fenced."""
    values = {"failure": failure, "error": error, "lease_owner": None, "lease_expires": None}
    _set(session, build_id, state="failed", finished_at=utcnow(), **values)


def cancel(session: Session, build_ids: Sequence[str]) -> None:
    """Cancel those that are not finished; their holders' leases are revoked."""
    session.execute(
        update(Build)
        .where(Build.id.in_(build_ids), Build.state.in_(("queued", "running")))
        .values(
            state="cancelled",
            finished_at=utcnow(),
            lease_owner=None,
            lease_expires=None,
            lease_token=Build.lease_token + 1,
        )
        .execution_options(synchronize_session=False)
    )
    session.expire_all()


def of_design(session: Session, design_id: str) -> Sequence[Build]:
    """Newest first."""
    return session.scalars(select(Build).where(Build.design_id == design_id).order_by(Build.id.desc())).all()


def of_exploration(session: Session, exploration_id: str, *stages: DesignStage) -> Sequence[Build]:
    """Builds of these stages of the exploration's designs, oldest first."""
    query = select(Build).join(Design, Build.design_id == Design.id)
    query = query.where(Design.exploration_id == exploration_id, Build.stage.in_(stages))
    return session.scalars(query.order_by(Build.id)).all()


def latest_by_design(session: Session, design_ids: Sequence[str], stage: DesignStage) -> dict[str, Build]:
    """The newest build of the stage of each design that has one."""
    query = select(Build).where(Build.design_id.in_(design_ids), Build.stage == stage).order_by(Build.id)
    return {b.design_id: b for b in session.scalars(query) if b.design_id is not None}


def unfinished(session: Session, *stages: Stage) -> Sequence[Build]:
    """Queued and running builds of these stages, oldest first."""
    query = select(Build).where(Build.stage.in_(stages), Build.state.in_(("queued", "running")))
    return session.scalars(query.order_by(Build.id)).all()


def set_log(session: Session, build_id: str, token: int, log_digest: str) -> None:
    """Attach the log of the run that had this lease token."""
    session.execute(update(Build).where(Build.id == build_id, Build.lease_token == token).values(log_digest=log_digest))


def _set(session: Session, build_id: str, **values: Any) -> None:
    session.execute(
        update(Build).where(Build.id == build_id).values(**values).execution_options(synchronize_session=False)
    )
    session.expire_all()
