"""Stage csim: compile one design, run its C++ against the reference's results, keep its files and the verdict."""

from db import models
from db.repositories import artifacts, builds, explorations, leases
from db.repositories.artifacts import NewArtifact
from worker.build_events import emit_build
from worker.compiled import Job, compiled, say
from worker.farm import Farm
from worker.stages import Stages
from worker.store import StoredFile
from worker.versions import stage_tools


def csim(farm: Farm, stages: Stages, build_id: str, token: int) -> None:
    """Run the build and record its result. Raises MillraceError, StoreError, LeaseLostError."""
    with compiled(farm, stages, build_id, token) as (job, out):
        _keep(farm, job, farm.store.put_tree(out))
        verdict = stages.csim(out, say)
    with farm.database.write() as session:
        explorations.lock(session, job.exploration.id)
        leases.fence(session, models.Build, build_id, token)
        builds.finish(session, build_id, dict(verdict.to_json()), stage_tools())
        emit_build(farm, session, job.exploration.id, builds.get(session, build_id))


def _keep(farm: Farm, job: Job, files: list[StoredFile]) -> None:
    # Before the simulation: when it fails, the files are what a person needs to find out why.
    with farm.database.write() as session:
        leases.fence(session, models.Build, job.build.id, job.token)
        rows = [NewArtifact(f.path, f.digest, f.size, f.media_type) for f in files]
        artifacts.replace(session, job.build.id, job.design_id, rows)
