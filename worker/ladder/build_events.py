"""What followers of an exploration are told about its builds."""

from typing import Any, Literal

from sqlalchemy.orm import Session

from db.models import OPEN_STATES, Build, Design
from db.repositories import designs
from db.repositories.overview import StageState
from dse.promote import relative_error
from worker.farm import Farm

Simulation = Literal["running", "done", "refuted", "failed"]


def emit_build(farm: Farm, session: Session, build: Build) -> None:
    """Tell how a build of an exploration or of one of its designs is now; of a simulation that has ended also what it
    found. Nothing for the import of a workload, which is nobody's in particular.
    """
    if build.exploration_id is None:
        return
    design = None  # read before events are added: then both are written in one statement
    if build.stage == "simulate" and build.state in ("done", "failed") and build.design_id is not None:
        design = designs.get(session, build.design_id)
    data = {name: getattr(build, name) for name in ("id", "design_id", "stage", "state", "attempt", "node", "error")}
    farm.emit(session, build.exploration_id, "build", {**data, "failure": build.failure, "verdict": build.verdict})
    if design is not None:
        farm.emit(session, build.exploration_id, "simulated", _simulated(build, design))


def _simulated(build: Build, design: Design) -> dict[str, Any]:
    return {
        "id": design.id,
        "state": simulation_word(build, design.refuted is not None),
        "latency_us": design.simulated_us,
        "estimate_error": estimate_error(design),
        "refuted": design.refuted,
    }


def simulation_word(build: Build | StageState | None, refuted: bool) -> Simulation | None:
    """One word for how a design stands at fidelity `simulate`; a cancelled simulation counts as none."""
    if build is None or build.state == "cancelled":
        return None
    if build.state in OPEN_STATES:
        return "running"
    if build.state == "done":
        return "done"
    return "refuted" if refuted else "failed"


def estimate_error(design: Design) -> float | None:
    """Signed relative error of the estimated latency against the simulated one; None where it was not simulated."""
    if design.latency_us is None or not design.simulated_us:
        return None
    return relative_error(design.latency_us, design.simulated_us)
