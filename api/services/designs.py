"""Designs: their metrics, builds and files."""

import io
import tarfile
from collections.abc import Generator, Sequence

from sqlalchemy.orm import Session

from api import schemas
from api.errors import NotReadyError
from api.services import shapes
from db import models
from db.errors import NotFoundError
from db.repositories import artifacts, builds, designs, explorations
from worker import promoting
from worker.build_events import emit_build
from worker.farm import Farm
from worker.store import ArtifactStore, safe_path


def describe(session: Session, design_id: str) -> schemas.Design:
    """A design with its metrics, violations and builds. Raises NotFoundError."""
    row = designs.get(session, design_id)
    rows = builds.of_design(session, design_id)
    simulation, csim = (next((b for b in rows if b.stage == stage), None) for stage in models.DESIGN_STAGES)
    files = {f.path for f in artifacts.of_design(session, design_id)}
    metrics = designs.metrics_of(session, [design_id])[design_id]
    return schemas.Design(
        **shapes.design_summary(row, simulation, csim).model_dump(),
        exploration_id=row.exploration_id,
        metrics=[shapes.metric(m) for m in metrics],
        differences=shapes.differences(metrics),
        violations=[schemas.Violation.model_validate(v) for v in row.violations],
        builds=[shapes.build(b) for b in rows],
        dataflow_available="dataflow.json" in files,
        simulation_available="simulation.json" in files,
        archive_available=artifacts.is_compiled(session, design_id),
    )


def page(
    session: Session, exploration_id: str, after: int | None, limit: int, front: bool
) -> list[schemas.DesignSummary]:
    """Designs of an exploration in order of evaluation, those after number `after`."""
    rows = designs.page(session, exploration_id, after, limit, front)
    ids = [row.id for row in rows]
    simulations, csims = (builds.latest_by_design(session, ids, stage) for stage in models.DESIGN_STAGES)
    return [shapes.design_summary(row, simulations.get(row.id), csims.get(row.id)) for row in rows]


def start_build(farm: Farm, session: Session, design_id: str, stage: models.DesignStage) -> schemas.Build:
    """Queue a stage of the design; one that is running or done is not run again.

    Raises NotFoundError, NotReadyError.
    """
    design = designs.get(session, design_id)
    if design.latency_us is None:
        raise NotReadyError(f"design {design_id} can not be built: {design.reason}")
    exploration = explorations.lock(session, design.exploration_id)
    build = promoting.ensure(session, exploration, design, stage)
    if builds.requeue(session, build.id) or build.state == "queued":
        build = builds.get(session, build.id)
        farm.queue.submit(session, build)
        emit_build(farm, session, exploration.id, build)
    return shapes.build(builds.get(session, build.id))


def files(session: Session, design_id: str) -> Sequence[models.Artifact]:
    """Files of the design directory, as far as they are stored. Raises NotFoundError."""
    designs.get(session, design_id)
    return artifacts.of_design(session, design_id)


def file(session: Session, design_id: str, path: str) -> models.Artifact:
    """One file. Raises NotFoundError, UnsafePathError."""
    designs.get(session, design_id)
    return artifacts.find(session, design_id, safe_path(path))


def archive(session: Session, store: ArtifactStore, design_id: str) -> Generator[bytes]:
    """The design directory as tar.gz, the same bytes each time; every file is checked before the first byte is sent.

    Raises NotFoundError, NotReadyError, StoreError.
    """
    rows = files(session, design_id)
    if not artifacts.is_compiled(session, design_id):
        raise NotReadyError(
            f"design {design_id} is not stored whole; start its C simulation (POST /v1/designs/{design_id}/builds)"
        )
    for row in rows:
        store.path(row.digest)
    return _tar(store, design_id, rows)


def _tar(store: ArtifactStore, folder: str, rows: Sequence[models.Artifact]) -> Generator[bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w|gz", format=tarfile.PAX_FORMAT) as tar:
        for row in rows:
            info = tarfile.TarInfo(f"{folder}/{row.path}")
            info.size = row.size
            with store.path(row.digest).open("rb") as content:
                tar.addfile(info, content)
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def build_log(session: Session, store: ArtifactStore, build_id: str) -> bytes:
    """What the build's tools printed. Raises NotFoundError, StoreError."""
    build = builds.get(session, build_id)
    if build.log_digest is None:
        raise NotFoundError("log of build", build_id, "it is written when the build ends")
    return store.read(build.log_digest)
