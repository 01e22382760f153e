"""What the stages of a design start with: what the build is of, and the design compiled into the scratch folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.errors import Violation
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from db import models
from db.repositories import designs
from dse import at_most
from worker.farm import Farm
from worker.ladder.platforms import platform_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
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
    out = job.scratch / "design"
    stages.compile(*_arguments(farm, stages, job, subject), out, job.log)
    return out


def time_into_scratch(
    farm: Farm, stages: Stages, job: JobContext, subject: Subject
) -> tuple[Path, tuple[Violation, ...]]:
    """What a simulation reads of the design directory, and what the design exceeds with certified FIFOs, of the board's
    budgets and of the resources that were asked for at most. Raises MillraceError, StoreError.
    """
    out = job.scratch / "design"
    found = stages.time(*_arguments(farm, stages, job, subject), out, job.log)
    asked: dict[str, float] = subject.exploration.options.get("at_most") or {}
    return out, at_most.exceeded(found.metrics, found.violations, at_most.resources(asked, subject.platform))


def _arguments(farm: Farm, stages: Stages, job: JobContext, subject: Subject) -> "tuple[Bundle, Knobs, Platform]":
    bundle = open_bundle(farm, stages, subject.exploration.workload, job.log)
    return bundle, Knobs.from_json(subject.design.knobs), subject.platform
