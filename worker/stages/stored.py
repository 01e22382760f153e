"""The results of earlier stages, fetched from the store into the scratch folder. Every byte is checked on the way.

A file that is lost or damaged is no reason to go on with something else: the stage fails as the node's trouble, and the
build that made the file is run again, which also mends the store.
"""

import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from sqlalchemy.orm import Session

from db.models import Build, DesignStage
from db.repositories import relations
from worker.errors import DiskFullError, StoreAwayError, StoreError
from worker.farm import Farm
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.store.names import safe_path

StageFunction = Callable[[Farm, Stages, JobContext], Outcome]


class LostFileError(StoreError):
    """A stored file of the build `build_id` can not be had."""

    def __init__(self, build_id: str, text: str) -> None:
        super().__init__(text)
        self.build_id = build_id


def fetch(farm: Farm, job: JobContext, stage: DesignStage, target: Path) -> Path:
    """`target` with all files that the build of `stage` below this one left. Raises LostFileError."""
    with farm.database.read() as session:
        build = _below(session, job.build.id, stage)
        files = relations.files_of(session, build.id)
    if not files:
        raise LostFileError(build.id, f"the {stage} of this design ({build.id}) has left no files; it is run again")
    for path, digest in files.items():
        _copy(farm, build, path, digest, target / safe_path(path))
    return target


def _below(session: Session, build_id: str, stage: DesignStage) -> Build:
    return next(build for build in relations.below(session, build_id) if build.stage == stage)


def _copy(farm: Farm, build: Build, path: str, digest: str, target: Path) -> None:
    try:
        source = farm.store.path(digest)
    except (StoreAwayError, DiskFullError):
        raise  # the file is there; it is this node that can not have it now
    except StoreError as error:
        text = f"{path} of the {build.stage} of this design ({build.id}) is lost: {error}. That stage is run again"
        raise LostFileError(build.id, text) from error
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def from_store(function: StageFunction) -> StageFunction:
    """`function`, with a lost file turned into an outcome that has its maker run again."""

    @wraps(function)
    def run(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
        try:
            return function(farm, stages, job)
        except LostFileError as error:
            lost = error.build_id

            def effect(farm: Farm, session: Session) -> None:
                for build in relations.run_again(session, lost, job.build.id):
                    farm.queue.announce(session, build.queue)

            return Outcome(None, job.build.tool_versions, failure="node", error=str(error), effect=effect)

    return run
