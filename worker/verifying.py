"""Stage csim: compile one design, run its C++ against the reference's results, keep its files and the verdict."""

from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import artifacts, builds, designs, explorations, leases
from db.repositories.artifacts import NewArtifact
from worker.build_events import emit_build
from worker.farm import Farm
from worker.lowering import open_bundle
from worker.scratch import scratch_directory
from worker.stages import Stages
from worker.store import StoredFile
from worker.versions import stage_tools


def csim(farm: Farm, stages: Stages, build_id: str, token: int) -> None:
    """Run the build and record its result. Raises MillraceError, StoreError, LeaseLostError."""
    with farm.database.read() as session:
        build = builds.get(session, build_id)
        assert build.design_id is not None
        design = designs.get(session, build.design_id)
        exploration = explorations.get(session, design.exploration_id)
    bundle = open_bundle(farm, stages, exploration.workload)
    with scratch_directory(farm.settings) as scratch:
        out = scratch / "design"
        stages.compile(bundle, Knobs.from_json(design.knobs), load_platform(exploration.platform), out, _say)
        _keep(farm, build, token, farm.store.put_tree(out))
        verdict = stages.csim(out, _say)
    with farm.database.write() as session:
        explorations.lock(session, exploration.id)
        leases.fence(session, models.Build, build_id, token)
        builds.finish(session, build_id, dict(verdict.to_json()), stage_tools())
        emit_build(farm, session, exploration.id, builds.get(session, build_id))


def _keep(farm: Farm, build: models.Build, token: int, files: list[StoredFile]) -> None:
    # Before the simulation: when it fails, the files are what a person needs to find out why.
    with farm.database.write() as session:
        leases.fence(session, models.Build, build.id, token)
        rows = [NewArtifact(f.path, f.digest, f.size, f.media_type) for f in files]
        artifacts.replace(session, build.id, build.design_id, rows)


def _say(text: str) -> None:
    print(text, flush=True)
