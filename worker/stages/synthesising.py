"""Stages csynth and cosim: Vitis HLS on the code that C simulation has verified.

csynth's own latency takes each task by itself. Where its report is of this design, the simulator runs the design with
the timing that the report gives each task; that is the latency of fidelity csynth, and the report's own is kept beside.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compiler.metrics import Fidelity, Metric
from worker.farm import Farm
from worker.stages.compiled import subject_of
from worker.stages.context import JobContext
from worker.stages.functions import Simulated, Stages
from worker.stages.outcome import Outcome
from worker.stages.stored import fetch, from_store
from worker.stages.tool_outcome import outcome_of, tool_run

RETIMED = "millrace+vitis_hls"
"""The tool of a latency that both had a part in."""
_REPORTED = {"latency": "latency_reported", "cycles": "cycles_reported"}


@from_store
def csynth(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Synthesise the kernels of the build's design. Raises MillraceError, StageError."""
    design, subject = fetch(farm, job, "csim", job.scratch / "design"), subject_of(farm, job)
    run = tool_run(farm, job)
    result = stages.csynth(design, run)
    if not result.passed:
        return outcome_of(farm, job, subject, run, result, (), {})
    reports = [run.out / path for path in result.files if path.name in ("csynth.xml", "csynth.rpt")]
    metrics, more = _retimed(stages, design, _one_a_kernel(reports), result.metrics)
    return outcome_of(farm, job, subject, run, result, metrics, more)


def _one_a_kernel(reports: Sequence[Path]) -> list[Path]:
    """The .xml where there is one: it says more than the .rpt."""
    return list({path.parent: path for path in sorted(reports)}.values())


def _retimed(
    stages: Stages, design: Path, reports: Sequence[Path], metrics: tuple[Metric, ...]
) -> tuple[tuple[Metric, ...], dict[str, Any]]:
    """The metrics with the simulated latency, and what to say about it in the verdict."""
    found = stages.resimulate(design, reports) if reports else "csynth left no report"
    if isinstance(found, str):
        return metrics, {"retimed": False, "notes": [found]}
    if found.deadlock is not None:
        return metrics, {
            "retimed": False,
            "notes": [f"with the timing of csynth the design deadlocks: {found.deadlock}"],
        }
    renamed = tuple(replace(m, name=_REPORTED.get(m.name, m.name)) for m in metrics)
    return (*_latency_of(found, metrics), *renamed), {"retimed": True, "stalling": found.document.get("stalling")}


def _latency_of(found: Simulated, reported: Sequence[Metric]) -> tuple[Metric, ...]:
    version = next((m.tool_version for m in reported), "unknown")
    return tuple(
        Metric(m.name, m.value, m.unit, Fidelity.CSYNTH, RETIMED, f"{m.tool_version}+{version}")
        for m in found.metrics
        if m.name in _REPORTED
    )


@from_store
def cosim(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Simulate the RTL of the build's design. Raises MillraceError, StageError."""
    design, subject = fetch(farm, job, "csim", job.scratch / "design"), subject_of(farm, job)
    run = tool_run(farm, job)
    result = stages.cosim(design, run)
    return outcome_of(farm, job, subject, run, result, result.metrics, {})
