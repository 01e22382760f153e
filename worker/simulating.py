"""Stage simulate: compile one design and run its timing, the second rung of the ladder (design section 4).

What is simulated is the compiled design's own `dataflow.json`. A deadlock is an outcome, not a failure of the stage:
the build ends as infeasible with the simulator's explanation, and the design leaves the front. Of the design directory
this keeps the description, the graph and the simulation; the stage csim keeps all of it.
"""

import json
from pathlib import Path

from sqlalchemy.orm import Session

from compiler.metrics import Fidelity
from compiler.platforms.platform import load_platform
from db import models
from db.repositories import artifacts, builds, designs, explorations, leases
from db.repositories.artifacts import NewArtifact
from worker.build_events import emit_build, estimate_error
from worker.compiled import Job, compiled, say
from worker.farm import Farm
from worker.flags import flags_of
from worker.metric_rows import new_metrics, stored_metrics
from worker.promoting import renew_front
from worker.stages import Simulated, Stages
from worker.store import media_type
from worker.versions import stage_tools

SIMULATION = "simulation.json"
_KEPT = ("design.json", "dataflow.json", SIMULATION)


def simulate(farm: Farm, stages: Stages, build_id: str, token: int) -> None:
    """Run the build and record its result. Raises MillraceError, StoreError, LeaseLostError."""
    with compiled(farm, stages, build_id, token) as (job, out):
        say("simulate")
        found = stages.simulate(out)
        (out / SIMULATION).write_text(json.dumps(found.document))
        files = _stored(farm, out)
    say(found.deadlock or f"{found.cycles} cycles, {found.latency_us:.4g} us")
    with farm.database.write() as session:
        explorations.lock(session, job.exploration.id)
        leases.fence(session, models.Build, build_id, token)
        artifacts.replace(session, build_id, job.design_id, files)
        _record(farm, session, job, found)


def _stored(farm: Farm, out: Path) -> list[NewArtifact]:
    present = [path for path in _KEPT if (out / path).is_file()]
    return [NewArtifact(path, *farm.store.put_file(out / path), media_type(path)) for path in present]


def _record(farm: Farm, session: Session, job: Job, found: Simulated) -> None:
    deadlocked = designs.get(session, job.design_id).deadlock is not None  # by an older compiler
    _record_metrics(session, job, found)
    if found.deadlock is None:
        builds.finish(session, job.build.id, _verdict(session, job, found), stage_tools())
    else:
        builds.fail(session, job.build.id, "infeasible", found.deadlock)
    if deadlocked != (found.deadlock is not None):
        renew_front(farm, session, job.exploration.id)
    emit_build(farm, session, job.exploration.id, builds.get(session, job.build.id))


def _record_metrics(session: Session, job: Job, found: Simulated) -> None:
    known = stored_metrics(designs.metrics_of(session, [job.design_id])[job.design_id])
    others = [m for m in known if m.fidelity != Fidelity.SIMULATE]
    new = new_metrics(found.metrics)
    designs.record_build(session, job.design_id, job.build.id, Fidelity.SIMULATE, new)
    latency = None if found.deadlock else found.latency_us
    flags = flags_of([*others, *found.metrics], load_platform(job.exploration.platform))
    designs.set_simulated(session, job.design_id, latency, found.deadlock, flags)


def _verdict(session: Session, job: Job, found: Simulated) -> dict[str, float | bool | None]:
    error = estimate_error(designs.get(session, job.design_id))
    return {"passed": True, "cycles": found.cycles, "latency_us": found.latency_us, "estimate_error": error}
