"""Stage link: v++ places and routes the kernels that csynth left, for the card with the platform's shell."""

from compiler.toolchain.vitis.commands import LinkOptions
from worker.farm import Farm
from worker.stages.compiled import subject_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.stages.stored import fetch, from_store
from worker.stages.tool_outcome import outcome_of, tool_run

_GB_A_JOB = 4


@from_store
def link(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Link the kernels of the build's design. Raises MillraceError, StageError."""
    design, subject = fetch(farm, job, "csim", job.scratch / "design"), subject_of(farm, job)
    kernels = fetch(farm, job, "csynth", job.scratch / "kernels")
    run = tool_run(farm, job)
    chosen = job.build.options
    options = LinkOptions(
        chosen["shell"],
        chosen.get("target", "hw"),
        chosen.get("clock_mhz"),
        jobs=_jobs(job.build.cpus, run.limits.memory_gb),
    )
    result = stages.link(design, sorted(kernels.glob("*.xo")), options, run)
    return outcome_of(farm, job, subject, run, result, result.metrics, {})


def _jobs(cpus: float, memory_gb: float) -> int:
    """Vivado's parallel jobs, as many as the build has CPUs and memory for."""
    return max(1, int(min(cpus, memory_gb / _GB_A_JOB)))
