"""Stage measure: the design on a board, or on the simulated one, its results compared with the reference."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError
from compiler.measurement.errors import MeasurementError
from compiler.measurement.request import MeasureRequest
from compiler.metrics import Metric
from db.repositories import builds, designs, relations
from worker.farm import Farm
from worker.ladder.table import SIMULATED
from worker.ladder.versions import tools_of
from worker.stages.compiled import Subject, subject_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.stages.stored import LostFileError, fetch, from_store
from worker.stages.taxonomy import failure_of
from worker.stages.tool_outcome import reflag


@from_store
def measure(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Measure the build's design. Raises MillraceError."""
    board = job.build.options.get("board", SIMULATED)
    request = MeasureRequest(board=board, allow_reset=farm.settings.allow_device_reset)
    design, subject = fetch(farm, job, "csim", job.scratch / "design"), subject_of(farm, job)
    tools = tools_of("measure", job.build.options)
    try:
        found = stages.measure(design, None if request.simulated else _xclbin(farm, job), request, job.log)
    except MeasurementError as error:
        return Outcome(None, tools, failure=failure_of(error.kind), error=str(error))
    tools |= found.tool_versions
    if not found.passed:
        return Outcome(found.to_json(), tools, failure="infeasible", error=found.message)
    metrics = _new(found.metrics(), _known(farm, subject))
    return Outcome(found.to_json(), tools, metrics, effect=reflag(subject))


def _xclbin(farm: Farm, job: JobContext) -> Path:
    with farm.database.read() as session:
        link = relations.below(session, job.build.id)[-1]
    if (target := link.options.get("target", "hw")) != "hw":
        raise InvalidInputError(f"the link of this design ({link.id}) is for {target}: a board needs one for hw")
    folder = fetch(farm, job, "link", job.scratch / "link")
    found = next(iter(sorted(folder.glob("*.xclbin"))), None)
    if found is None:
        raise LostFileError(link.id, f"the link of this design ({link.id}) left no .xclbin; it is run again")
    return found


def _known(farm: Farm, subject: Subject) -> set[tuple[str, str]]:
    """Names and fidelities that other stages gave the design: a measurement replaces the one before it."""
    with farm.database.read() as session:
        rows = designs.metrics_of(session, [subject.design.id])[subject.design.id]
        made_by = {key: builds.get(session, key).stage for key in {row.build_id for row in rows} if key is not None}
    return {(row.name, row.fidelity) for row in rows if made_by.get(row.build_id or "") != "measure"}


def _new(metrics: Iterable[Metric], known: Collection[Any]) -> tuple[Metric, ...]:
    """A simulated board repeats what the estimate and the simulator have said; nothing is shown twice."""
    return tuple(m for m in metrics if (m.name, str(m.fidelity)) not in known)
