"""What the stages of a design start with: what the build is of, and the design compiled into the scratch folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.options import Knobs
from compiler.platforms.platform import Platform
from db import models
from db.repositories import designs
from worker.farm import Farm
from worker.ladder.platforms import platform_of
from worker.stages.context import JobContext
from worker.stages.functions import Progress, Stages
from worker.stages.lowering import open_bundle

if TYPE_CHECKING:
    from compiler.frontend.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Subject:
    """The design that a build is of."""

    design: models.Design
    exploration: models.Exploration
    platform: Platform


def subject_of(farm: Farm, job: JobContext) -> Subject:
    """Raises InvalidInputError or StoreError for an area model that can not be had."""
    assert job.build.design_id is not None
    with farm.database.read() as session:
        design, exploration = designs.with_exploration(session, job.build.design_id)
    return Subject(design, exploration, platform_of(farm, exploration.platform, exploration.options))


def compile_into_scratch(farm: Farm, stages: Stages, job: JobContext, subject: Subject) -> Path:
    """The design directory, made by the compiler. Raises MillraceError, StoreError."""
    return _made(stages.compile, farm, stages, job, subject)


def time_into_scratch(farm: Farm, stages: Stages, job: JobContext, subject: Subject) -> Path:
    """What a simulation reads of the design directory. Raises MillraceError, StoreError."""
    return _made(stages.time, farm, stages, job, subject)


def _made(
    make: "Callable[[Bundle, Knobs, Platform, Path, Progress], None]",
    farm: Farm,
    stages: Stages,
    job: JobContext,
    subject: Subject,
) -> Path:
    bundle = open_bundle(farm, stages, subject.exploration.workload, job.log)
    out = job.scratch / "design"
    make(bundle, Knobs.from_json(subject.design.knobs), subject.platform, out, job.log)
    return out
