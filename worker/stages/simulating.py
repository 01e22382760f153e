"""Stage simulate: plan one design and run its timing, the second rung of the ladder (design section 4).

What is simulated is the design's `dataflow.json`, as the compiler writes it: with certified FIFOs, where the search
estimates planned ones. A deadlock refutes the design, and so does a budget that it now exceeds: it is infeasible, with
the reason, and leaves the front. This keeps the description, the graph and the simulation; the stage csim compiles the
whole design directory and keeps all of it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from compiler.errors import Violation
from db.repositories import designs
from dse.promote import relative_error
from worker.farm import Farm
from worker.ladder.promoting import renew_front
from worker.ladder.versions import tools_of
from worker.stages.compiled import Subject, subject_of, time_into_scratch
from worker.stages.context import JobContext
from worker.stages.flags import flags_of
from worker.stages.functions import Simulated, Stages
from worker.stages.metric_rows import stored_metrics
from worker.stages.outcome import Outcome
from worker.store.artifacts import StoredFile
from worker.store.names import media_type

SIMULATION = "simulation.json"
_KEPT = ("design.json", "dataflow.json", SIMULATION)


def simulate(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Simulate the design of the build. Raises MillraceError, StoreError."""
    subject = subject_of(farm, job)
    out, over = time_into_scratch(farm, stages, job, subject)
    job.log("simulate")
    found = stages.simulate(out)
    (out / SIMULATION).write_text(json.dumps(found.document))
    refuted = _refuted(found, over)
    job.log(refuted or f"{found.cycles} cycles, {found.latency_us:.4g} us")
    return Outcome(
        None if refuted else _verdict(subject, found),
        tools_of("simulate", {}),
        found.metrics,
        _stored(farm, out),
        "infeasible" if refuted else None,
        refuted,
        lambda farm, session: _note(farm, session, subject, found, refuted),
    )


def _refuted(found: Simulated, over: Sequence[Violation]) -> str | None:
    """Why the design can not be built, in words; None where nothing speaks against it."""
    if found.deadlock is not None or not over:
        return found.deadlock
    return f"with certified FIFOs: {', '.join(violation.text for violation in over)}"


def _verdict(subject: Subject, found: Simulated) -> dict[str, Any]:
    estimate, error = subject.design.latency_us, None
    if estimate is not None and found.latency_us:
        error = relative_error(estimate, found.latency_us)
    return {
        "passed": True,
        "cycles": found.cycles,
        "latency_us": found.latency_us,
        "estimate_error": error,
        "stalling": found.document.get("stalling"),
    }


def _stored(farm: Farm, out: Path) -> tuple[StoredFile, ...]:
    present = [path for path in _KEPT if (out / path).is_file()]
    return tuple(StoredFile(path, *farm.store.put_file(out / path), media_type(path)) for path in present)


def _note(farm: Farm, session: Session, subject: Subject, found: Simulated, refuted: str | None) -> None:
    design_id = subject.design.id
    before = subject.design.refuted  # by an older compiler
    known = designs.metrics_of(session, [design_id])[design_id]
    latency = None if found.deadlock else designs.clocked_latency(known, found.latency_us)
    flags = flags_of(stored_metrics(known), subject.platform)
    designs.set_simulated(session, design_id, latency, refuted, flags)
    if (before is None) != (refuted is None):
        renew_front(farm, session, subject.exploration.id)
