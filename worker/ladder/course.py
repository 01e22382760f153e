"""The course of an exploration: queued, lowering, searching, simulating, verifying, building, done.

`step` looks at what is stored and does what comes next. It may be called at any time and any number of times: after a
build has ended, by the reaper, at a start after a crash. All work is done by builds; this only decides on them.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy.orm import Session

from db.models import ACTIVE_STATES, DESIGN_STAGES, Build, Exploration, ExplorationState, Stage
from db.repositories import builds, designs, explorations
from dse import at_most
from worker.comparison.sweeping import sweep_ended
from worker.farm import Farm
from worker.ladder import climbing, islands, promoting
from worker.ladder import table as ladder
from worker.ladder.build_events import emit_build
from worker.ladder.design_events import emit_adopted
from worker.ladder.import_limits import import_limits
from worker.ladder.requeuing import requeue

_ALL_REFUTED = (
    "every feasible design is refuted by its simulation: with certified FIFOs it exceeds a budget, or it deadlocks, "
    "which these should rule out; the simulations of the designs say which and where"
)


def step(farm: Farm, session: Session, exploration: Exploration) -> None:
    """Do all of a locked exploration that needs nobody's work; nothing where it waits for builds."""
    while (state := exploration.state) in _STEPS:
        _STEPS[state](farm, session, exploration)
        if exploration.state == state:
            return


def is_due(session: Session, exploration: Exploration) -> bool:
    """Whether a step has something to do, as far as one probe can tell; what waits for the import is asked anyway."""
    awaited = _AWAITED.get(exploration.state, ())
    return exploration.state in _STEPS and not (awaited and builds.has_open(session, exploration.id, *awaited))


def _queued(farm: Farm, session: Session, exploration: Exploration) -> None:
    build = _lower(farm, session, exploration)
    if requeue(farm, session, build):
        build = builds.get(session, build.id)
    _announce(farm, session, build)
    move(farm, session, exploration, "lowering")


def _lower(farm: Farm, session: Session, exploration: Exploration) -> Build:
    workload = exploration.workload
    new = ladder.new_build(
        "lower",
        workload.digest,
        {},
        farm.settings,
        limits=import_limits(workload, farm.settings),
        workload_id=workload.id,
        owner=exploration.owner or "",
        priority=exploration.priority,
    )
    return builds.ensure(session, new)


def _lowering(farm: Farm, session: Session, exploration: Exploration) -> None:
    build = _lower(farm, session, exploration)
    if build.state == "done":
        _start_search(farm, session, exploration)
    elif build.state in ("failed", "cancelled"):
        move(farm, session, exploration, "failed", build.error or "the import of the model was cancelled")


def _start_search(farm: Farm, session: Session, exploration: Exploration) -> None:
    turn = islands.last_turn(session, exploration) or islands.next_turn(farm, session, exploration, ())
    _queue(farm, session, [build for build in turn if build.state != "done"])
    move(farm, session, exploration, "searching")


def _queue(farm: Farm, session: Session, turn: Sequence[Build]) -> None:
    for build in turn:
        requeue(farm, session, build)
        started = builds.get(session, build.id)
        _announce(farm, session, started)
        emit_build(farm, session, started)


def _searching(farm: Farm, session: Session, exploration: Exploration) -> None:
    while is_due(session, exploration):
        turn = islands.last_turn(session, exploration)
        for build in turn:
            if build.state in ("failed", "cancelled"):
                error = build.error or "its search was cancelled; resume it to go on"
                move(farm, session, exploration, "failed", error)
                return
            if build.adopted_from is not None:
                emit_adopted(farm, session, build)
        following = islands.next_turn(farm, session, exploration, turn)
        if not following:
            _searched(farm, session, exploration)
            return
        _queue(farm, session, following)


def _searched(farm: Farm, session: Session, exploration: Exploration) -> None:
    promoting.renew_front(farm, session, exploration.id)  # one that was simulated meanwhile may be refuted
    counts = explorations.counts(session, [exploration.id]).get(exploration.id, explorations.Counts())
    if counts.feasible:
        move(farm, session, exploration, "simulating")
    else:
        move(farm, session, exploration, "failed", _no_front(exploration, counts.evaluated))


def _no_front(exploration: Exploration, evaluated: int) -> str:
    bounds = at_most.text(exploration.options.get("at_most", {}))
    within, more = (f" with at most {bounds}", "more than that, ") if bounds else ("", "")
    return (
        f"none of the {evaluated} designs fits the {exploration.platform}{within}; "
        f"try {more}a larger budget, fewer layers, a shorter length or a narrower precision"
    )


def _simulating(farm: Farm, session: Session, exploration: Exploration) -> None:
    # Promoting again when all have ended: each round that follows has taken a refuted design off the front.
    while is_due(session, exploration):
        promoting.renew_front(farm, session, exploration.id)  # a simulation that was adopted may refute its design
        if not promoting.promote(farm, session, exploration):
            break
    else:
        return
    if not designs.front_ids(session, exploration.id):
        move(farm, session, exploration, "failed", _ALL_REFUTED)
        return
    promoting.verify(farm, session, exploration)
    move(farm, session, exploration, "verifying")


def _verifying(farm: Farm, session: Session, exploration: Exploration) -> None:
    if not is_due(session, exploration):
        return
    if climbing.wants_tools(exploration):
        move(farm, session, exploration, "building")
    else:
        _conclude(farm, session, exploration)


def _building(farm: Farm, session: Session, exploration: Exploration) -> None:
    while is_due(session, exploration):
        if not climbing.climb(farm, session, exploration):
            _conclude(farm, session, exploration)
            return


def _conclude(farm: Farm, session: Session, exploration: Exploration) -> None:
    ended = builds.of_exploration(session, exploration.id, *DESIGN_STAGES)
    if ended and all(build.state in ("failed", "cancelled") for build in ended):
        first = next((b for b in ended if b.error), ended[0])
        text = f"all {len(ended)} builds of its designs failed; the first, {first.stage}: {first.error or first.state}"
        move(farm, session, exploration, "failed", text)
    else:
        move(farm, session, exploration, "done")


_STEPS: Mapping[ExplorationState, Callable[[Farm, Session, Exploration], None]] = {
    "queued": _queued,
    "lowering": _lowering,
    "searching": _searching,
    "simulating": _simulating,
    "verifying": _verifying,
    "building": _building,
}
_AWAITED: Mapping[ExplorationState, tuple[Stage, ...]] = {
    "searching": ("search",),
    "simulating": ("simulate",),
    "verifying": DESIGN_STAGES,
    "building": (*DESIGN_STAGES, "calibrate"),
}
"""Builds of the exploration that the next step waits for."""


def move(
    farm: Farm, session: Session, exploration: Exploration, target: ExplorationState, error: str | None = None
) -> None:
    """Set the state of a locked exploration and say so in its events."""
    explorations.transition(session, exploration.id, (exploration.state,), target, error)
    farm.emit(session, exploration.id, "state", {"state": target, "error": error})
    if target not in ACTIVE_STATES:
        sweep_ended(farm, session, exploration)


def _announce(farm: Farm, session: Session, build: Build) -> None:
    if build.state == "queued":
        farm.queue.announce(session, build.queue)
