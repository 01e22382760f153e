"""Designs: their metrics, builds and files."""

import io
import tarfile
from collections.abc import Generator, Sequence

from sqlalchemy.orm import Session

from api.errors import NotReadyError
from api.principal import Principal
from api.schemas import builds as build_replies
from api.schemas import designs as replies
from api.services.boards import check_board
from api.services.builds import shape_all
from api.services.shapes import designs as shapes
from compiler.assumed import assumed_of
from db import models
from db.repositories import artifacts, builds, designs, explorations, overview
from db.repositories.overview import Newest
from worker.farm import Farm
from worker.ladder import flow, quotas
from worker.store.artifacts import ArtifactStore
from worker.store.names import safe_path


def describe(session: Session, design_id: str) -> replies.Design:
    """A design with its metrics, violations and builds. Raises NotFoundError."""
    row = designs.get(session, design_id)
    rows = builds.of_design(session, design_id)
    newest = {b.stage: Newest(b.state, b.verdict) for b in reversed(rows)}
    files = {f.path for f in artifacts.of_design(session, design_id)}
    metrics = designs.metrics_of(session, [design_id])[design_id]
    shaped = shape_all(session, rows)
    return replies.Design(
        **shapes.design_summary(row, newest.get("simulate"), newest.get("csim")).model_dump(),
        exploration_id=row.exploration_id,
        metrics=[shapes.metric(m) for m in metrics],
        differences=shapes.differences(metrics),
        assumed=assumed_of(m.name for m in metrics),
        violations=[replies.Violation.model_validate(v) for v in row.violations],
        ladder=shapes.ladder(shaped),
        builds=shaped,
        dataflow_available="dataflow.json" in files,
        simulation_available="simulation.json" in files,
        archive_available=artifacts.is_compiled(session, design_id),
    )


def change(farm: Farm, session: Session, who: Principal, design_id: str, body: replies.DesignChange) -> replies.Design:
    """Set what is given. Raises NotFoundError, ForbiddenError."""
    design, exploration = designs.with_exploration(session, design_id)
    who.require_owner(exploration.owner, f"exploration {exploration.id}")
    before = design.archived
    designs.relabel(session, design, body.model_dump(exclude_none=True))
    if design.archived != before:
        farm.emit(session, exploration.id, "archived", {"ids": [design_id], "archived": design.archived})
    return describe(session, design_id)


def page(
    session: Session, exploration_id: str, after: int | None, limit: int, front: bool, archived: bool = False
) -> list[replies.DesignSummary]:
    """Designs of an exploration in order of evaluation, those after number `after`."""
    rows = designs.page(session, exploration_id, after, limit, front, archived=archived)
    ids = [row.id for row in rows]
    newest = overview.newest_stages(session, ids, ("simulate", "csim"))
    return [shapes.design_summary(row, newest.get((row.id, "simulate")), newest.get((row.id, "csim"))) for row in rows]


def start_build(
    farm: Farm, session: Session, who: Principal, design_id: str, body: build_replies.NewBuild
) -> build_replies.Build:
    """Queue a stage of the design, with those before it; one that is running or done is not run again.

    Raises NotFoundError, NotReadyError, ForbiddenError, QuotaError, ConflictError where there is no point.
    """
    design = designs.get(session, design_id)
    exploration = explorations.get(session, design.exploration_id)
    who.require_owner(exploration.owner, f"exploration {exploration.id}")
    if design.latency_us is None:
        raise NotReadyError(f"design {design_id} can not be built: {design.reason}")
    check_board(body.board, exploration.platform)
    quotas.check_room(session, exploration.owner)
    with quotas.bounded(session, exploration.owner, "open_builds"):
        build = flow.start_build(farm, session, design, body.stage, body.chosen())
    return shape_all(session, [build])[0]


def files(session: Session, design_id: str) -> Sequence[models.Artifact]:
    """Files of the design directory, as far as they are stored. Raises NotFoundError."""
    designs.get(session, design_id)
    return artifacts.of_design(session, design_id)


def note_use(farm: Farm, session: Session, design_id: str) -> None:
    """Keep for retention that somebody reads files of the design; at most once a day. Raises NotFoundError."""
    if designs.is_stale(designs.get(session, design_id)):
        with farm.database.write() as other:
            designs.touch(other, design_id)


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
