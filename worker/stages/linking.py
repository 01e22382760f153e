"""Stage link: v++ places and routes the kernels that csynth left, for the card with the platform's shell.

The clock that it reaches takes the place of the estimated one: the design's cycles take so long from then on.
"""

from dataclasses import replace

from sqlalchemy.orm import Session

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.vitis.commands import LinkOptions
from db.repositories import designs
from worker.farm import Farm
from worker.stages.compiled import Subject, subject_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.stages.stored import fetch, from_store
from worker.stages.tool_outcome import outcome_of, tool_run

_GB_A_JOB = 4
_CYCLES = (Fidelity.CSYNTH, Fidelity.SIMULATE, Fidelity.ESTIMATE)


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
    metrics = (*result.metrics, *_latency(farm, subject, result.metrics))
    outcome = outcome_of(farm, job, subject, run, result, metrics, {})

    def effect(farm: Farm, session: Session) -> None:
        outcome.effect(farm, session)
        designs.retime(session, subject.design.id)

    return replace(outcome, effect=effect)


def _latency(farm: Farm, subject: Subject, linked: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The cycles of the best fidelity below, at the clock that was reached; none where no clock was."""
    clock = next((m.value for m in linked if m.name == "clock"), None)
    with farm.database.read() as session:
        known = designs.metrics_of(session, [subject.design.id])[subject.design.id]
    cycles = {m.fidelity: m.value for m in known if m.name == "cycles"}
    best = next((cycles[f] for f in _CYCLES if f in cycles), None)
    return () if clock is None or best is None else (Metric("latency", best / clock, "us", Fidelity.LINK),)


def _jobs(cpus: float, memory_gb: float) -> int:
    """Vivado's parallel jobs, as many as the build has CPUs and memory for."""
    return max(1, int(min(cpus, memory_gb / _GB_A_JOB)))
