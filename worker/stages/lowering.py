"""Stage lower: import a model for one workload into a bundle."""

import json
from pathlib import Path

from sqlalchemy.orm import Session

from compiler.frontend.bundle import Bundle
from compiler.frontend.cached import make_once
from compiler.frontend.inputs.source import FileSource, is_format, require_pt2
from db import models
from db.repositories import catalog
from worker.farm import Farm
from worker.ladder.versions import tools_of
from worker.ladder.workloads import compiler_workload
from worker.stages.context import JobContext
from worker.stages.functions import Progress, Stages
from worker.stages.outcome import Outcome


def lower(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Import the workload of the build. Raises MillraceError, StoreError."""
    assert job.build.workload_id is not None
    with farm.database.read() as session:
        workload = catalog.get_workload(session, job.build.workload_id)
    bundle = open_bundle(farm, stages, workload, job.log)
    where = str(bundle.directory.relative_to(farm.settings.bundle_dir))

    def effect(_farm: Farm, session: Session) -> None:
        catalog.set_bundle(session, workload.id, where)

    return Outcome(None, tools_of("lower", {}), effect=effect)


def open_bundle(farm: Farm, stages: Stages, workload: models.Workload, say: Progress) -> Bundle:
    """The workload's bundle: from this machine's cache, else imported now. Raises MillraceError, StoreError."""
    asked = compiler_workload(workload)
    source = _model_source(farm, workload.model)
    if isinstance(source, FileSource):
        source = source.in_precision(asked.precision)
    return stages.lower(source, asked, farm.settings.bundle_dir, say)


def _model_source(farm: Farm, model: models.Model) -> str | Path | FileSource:
    """A built-in name, the path of the model's config.json, or its file in the store, with its samples.

    Raises UnsupportedError for a .pt2 that this worker's operator has not allowed.
    """
    if model.kind == "builtin":
        return model.name
    if is_format(model.kind):
        if model.kind == "pt2":
            require_pt2(farm.settings.allow_pt2)
        samples = model.config.get("samples")
        calibrated = None if samples is None else farm.store.path(samples)
        return FileSource(model.name, farm.store.path(model.config["digest"]), model.kind, calibrated)

    def write(folder: Path) -> None:
        (folder / model.name).mkdir()
        (folder / model.name / "config.json").write_text(json.dumps(model.config, indent=2))

    return make_once(farm.settings.model_dir, f"{model.digest[:16]}-{model.name}", write) / model.name / "config.json"
