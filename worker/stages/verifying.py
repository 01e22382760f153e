"""Stage csim: compile one design, run its C++ against the reference's results, keep its files and the verdict.

A wrong result is a result: the build is done, its verdict says no, and nothing above it on the ladder is run.
"""

from compiler.errors import MillraceError
from worker.farm import Farm
from worker.ladder.versions import tools_of
from worker.stages.compiled import compile_into_scratch, subject_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.stages.taxonomy import failure_of_error


def csim(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Verify the design of the build. Raises MillraceError, StoreError."""
    out = compile_into_scratch(farm, stages, job, subject_of(farm, job))
    # Before the simulation: when it fails, the files are what a person needs to find out why.
    files, tools = tuple(farm.store.put_tree(out)), tools_of("csim", {})
    try:
        verdict = stages.csim(out, job.log, job.build.options.get("proof") == "whole")
    except MillraceError as error:
        return Outcome(None, tools, files=files, failure=failure_of_error(error), error=str(error))
    return Outcome(dict(verdict.to_json()), tools, files=files)
