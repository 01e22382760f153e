"""What the stages of one design start with: the build, what it is of, and the design compiled into a scratch folder."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import builds, designs, explorations
from worker.farm import Farm
from worker.lowering import open_bundle
from worker.scratch import scratch_directory
from worker.stages import Stages


@dataclass(frozen=True, slots=True)
class Job:
    """A build with what it is of."""

    build: models.Build
    design_id: str
    exploration: models.Exploration
    token: int


@contextmanager
def compiled(farm: Farm, stages: Stages, build_id: str, token: int) -> Generator[tuple[Job, Path]]:
    """The job of a build, and its design directory, which is gone afterwards. Raises MillraceError, StoreError."""
    with farm.database.read() as session:
        build = builds.get(session, build_id)
        assert build.design_id is not None
        design = designs.get(session, build.design_id)
        exploration = explorations.get(session, design.exploration_id)
    bundle = open_bundle(farm, stages, exploration.workload)
    with scratch_directory(farm.settings) as scratch:
        out = scratch / "design"
        stages.compile(bundle, Knobs.from_json(design.knobs), load_platform(exploration.platform), out, say)
        yield Job(build, design.id, exploration, token), out


def say(text: str) -> None:
    """A line of the build's log."""
    print(text, flush=True)
