"""Runs of sweeps as people and the clock ask for them: started, cancelled, accepted."""

from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from db.errors import ConflictError
from db.models import ACTIVE_STATES, Sweep, SweepRun
from db.repositories import calibrations, comparisons, sweeps
from db.types import utcnow
from dse.objectives import DEFAULT
from worker.comparison.comparing import baseline_of
from worker.farm import Farm
from worker.ladder import exploring, flow, workloads
from worker.sweeps.sweep_plan import cells, exploration_options

Cause = Literal["schedule", "late", "manual"]
"""Why a run was started; `late`: it was missed while the farm was down."""


def start(farm: Farm, session: Session, sweep_id: str, cause: Cause, scheduled_for: datetime | None = None) -> SweepRun:
    """Start a run: one exploration for each cell of the matrix. Raises ConflictError while another run is under way."""
    sweep = sweeps.lock(session, sweep_id)
    busy = sweeps.running(session, sweep.id)
    if busy is not None:
        raise ConflictError(f"run {busy.id} of the sweep {sweep.name!r} is under way; wait for its end, or cancel it")
    good = sweeps.last_good(session, sweep.id)
    run = sweeps.start(session, sweep.id, cause, scheduled_for, None if good is None else baseline_of(good))
    for cell in cells(sweep.matrix):
        options = exploration_options(sweep.options, cell)
        exploring.start(
            farm,
            session,
            workloads.current(session, cell.workload_id),
            cell.platform,
            {**options, "area_model": _area_model(session, sweep, cell.platform)},
            sweep.options["budget"],
            objectives=sweep.options.get("objectives", DEFAULT),
            priority=sweep.options.get("priority", "low"),
            owner=sweep.owner,
            sweep_run_id=run.id,
        )
    session.refresh(run)  # the course of an exploration expires what the session holds
    return run


def _area_model(session: Session, sweep: Sweep, platform: str) -> str | None:
    """Digest of the newest fit, where the sweep wants that and there is one."""
    if sweep.options.get("area_model") != "latest":
        return None
    newest = calibrations.latest(session, platform)
    return None if newest is None else newest.digest


def cancel(farm: Farm, session: Session, run_id: str) -> SweepRun:
    """Stop the run and its explorations. Nothing happens when it has ended."""
    run = sweeps.lock_run(session, run_id)
    if run.state != "running":
        return run
    sweeps.finish(session, run, "cancelled", None, {}, "cancelled by a person")
    for exploration in comparisons.explorations(session, run_id):
        if exploration.state in ACTIVE_STATES:
            flow.cancel(farm, session, exploration.id)
    session.refresh(run)
    return run


def accept(session: Session, run_id: str, who: str | None) -> SweepRun:
    """Take a regressed run as the new baseline: what it lost was given up on purpose.

    Raises ConflictError for a run in another state, and for one that a good run has followed.
    """
    run = sweeps.lock_run(session, run_id)
    if run.state != "regressed":
        raise ConflictError(f"run {run_id} is {run.state}; only a run that regressed can be accepted")
    good = sweeps.last_good(session, run.sweep_id)
    if good is not None and good.id > run.id:
        raise ConflictError(f"run {good.id} came after {run_id} and is good: it is the baseline already")
    accepted = {"who": who, "at": utcnow().isoformat()}
    sweeps.finish(session, run, "changed", {**(run.comparison or {}), "accepted": accepted}, run.tool_versions, None)
    return run
