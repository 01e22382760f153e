"""The course of an exploration: queued, lowering, searching, simulating, verifying, done; or failed, or cancelled.

`advance` looks at what is stored and does what comes next. It may be called at any time and any number of times: after
a stage has ended, by the reaper, at a start after a crash. Whoever holds a lease is left alone.
"""

from sqlalchemy.orm import Session

from db.errors import ConflictError
from db.models import ACTIVE_STATES, DESIGN_STAGES, Build, DesignStage, Exploration, ExplorationState
from db.repositories import builds, designs, explorations, leases
from worker import promoting
from worker.build_events import emit_build
from worker.farm import Farm
from worker.versions import lower_key, lower_tools

_ALL_DEADLOCK = (
    "every feasible design deadlocks when it is simulated, which the sizing of FIFOs should rule out; "
    "the simulations of the designs say where"
)


def advance(farm: Farm, exploration_id: str) -> None:
    """Do the next step of the exploration, in a transaction of its own."""
    with farm.database.write() as session:
        step(farm, session, explorations.lock(session, exploration_id))


def step(farm: Farm, session: Session, exploration: Exploration) -> None:
    """Do the next step of a locked exploration."""
    if exploration.state in ("queued", "lowering"):
        _lower(farm, session, exploration)
    elif exploration.state == "searching":
        farm.queue.submit(session, exploration)
    elif exploration.state == "simulating":
        _simulate(farm, session, exploration)
    elif exploration.state == "verifying":
        _verify(farm, session, exploration)


def _lower(farm: Farm, session: Session, exploration: Exploration) -> None:
    workload = exploration.workload
    build = builds.ensure(session, "lower", lower_key(workload.digest), lower_tools(), workload_id=workload.id)
    if exploration.state == "queued":
        builds.requeue(session, build.id)
        move(farm, session, exploration, "lowering")
    if build.state == "done":
        move(farm, session, exploration, "searching")
        farm.queue.submit(session, exploration)
    elif build.state == "failed":
        move(farm, session, exploration, "failed", build.error)
    elif build.state != "cancelled":
        farm.queue.submit(session, build)


def _simulate(farm: Farm, session: Session, exploration: Exploration) -> None:
    # Promoting again when all have ended: each round that follows has taken a design that deadlocks off the front.
    waiting = _unfinished(session, exploration, "simulate") or promoting.promote(farm, session, exploration)
    for build in waiting:
        farm.queue.submit(session, build)
    if waiting:
        return
    if not designs.front_ids(session, exploration.id):
        move(farm, session, exploration, "failed", _ALL_DEADLOCK)
        return
    promoting.verify(session, exploration)
    move(farm, session, exploration, "verifying")
    _verify(farm, session, exploration)


def _unfinished(session: Session, exploration: Exploration, *stages: DesignStage) -> list[Build]:
    found = builds.of_exploration(session, exploration.id, *stages)
    return [build for build in found if build.state in ("queued", "running")]


def _verify(farm: Farm, session: Session, exploration: Exploration) -> None:
    open_builds = _unfinished(session, exploration, *DESIGN_STAGES)
    for build in open_builds:
        farm.queue.submit(session, build)
    if not open_builds:
        move(farm, session, exploration, "done")


def move(
    farm: Farm, session: Session, exploration: Exploration, target: ExplorationState, error: str | None = None
) -> None:
    """Set the state of a locked exploration and say so in its events."""
    explorations.transition(session, exploration.id, (exploration.state,), target, error)
    farm.emit(session, exploration.id, "state", {"state": target, "error": error})


def cancel(farm: Farm, session: Session, exploration_id: str) -> Exploration:
    """Stop the exploration and its builds; those who work on it lose their leases and kill their tools.

    Nothing happens when it is finished already.
    """
    exploration = explorations.lock(session, exploration_id)
    if exploration.state not in ACTIVE_STATES:
        return exploration
    move(farm, session, exploration, "cancelled")
    leases.revoke(session, Exploration, exploration_id)
    unfinished = _unfinished(session, exploration, *DESIGN_STAGES)
    builds.cancel(session, [b.id for b in unfinished])
    for build in unfinished:
        emit_build(farm, session, exploration_id, build)
    if not explorations.active(session, exploration.workload_id):
        lowering = [b for b in builds.unfinished(session, "lower") if b.workload_id == exploration.workload_id]
        builds.cancel(session, [b.id for b in lowering])
    session.refresh(exploration)
    return exploration


def resume(farm: Farm, session: Session, exploration_id: str) -> Exploration:
    """Go on with a failed or cancelled exploration; designs that are stored are not evaluated again.

    Raises ConflictError when it is done. Nothing happens while it is active.
    """
    exploration = explorations.lock(session, exploration_id)
    if exploration.state == "done":
        raise ConflictError(f"exploration {exploration_id} is done; start a new one to search further")
    if exploration.state in ACTIVE_STATES:
        return exploration
    for build in builds.of_exploration(session, exploration_id, *DESIGN_STAGES):
        if build.failure != "infeasible":  # the design's fault: it would fail again
            builds.requeue(session, build.id)
    move(farm, session, exploration, "queued")
    step(farm, session, exploration)
    session.refresh(exploration)
    return exploration
