"""What moves explorations and builds along: the end of a build, and what people ask for (cancel, resume, retry)."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from db.engine import after_commit
from db.errors import ConflictError
from db.models import ACTIVE_STATES, DESIGN_STAGES, OPEN_STATES, Build, Design, DesignStage, Exploration
from db.repositories import builds, designs, explorations, relations
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.ladder.chains import chains_of, is_dead_end, is_wrong
from worker.ladder.course import is_due, move, step
from worker.ladder.reviving import revive

_log = logging.getLogger(__name__)


def advance(farm: Farm, exploration_id: str) -> None:
    """Do the next step of the exploration, in a transaction of its own."""
    farm.database.retry(lambda session: step(farm, session, explorations.lock(session, exploration_id)))


def ended(farm: Farm, session: Session, build: Build, changed: Iterable[Build] = (), *, more_run: bool = False) -> None:
    """What follows when a build has reached its end, in the transaction that says so. `changed` are the builds that
    this has queued, finished or cancelled too, as the repository returned them. The caller has locked the exploration
    of `build`; others are told after the commit, since two transactions that locked two would wait for each other.
    `more_run`: the caller knows of another build of this stage and exploration that runs, so no step is due.
    """
    changed = list(changed)
    changed += [b for one in (build, *changed) for b in _release(session, one)]
    stopped = [b for one in (build, *changed) if is_wrong(one) for b in _stop_above(session, one)]
    _announce(farm, session, changed)
    mine: list[Build] = []
    for one in {b.id: b for b in (build, *changed, *stopped)}.values():
        if one is build or one.exploration_id == build.exploration_id:
            mine.append(one)
        else:
            after_commit(session, partial(_try, _tell, farm, one.id))
    for one in mine:
        emit_build(farm, session, one)
    for exploration_id in _waiting(session, build):
        after_commit(session, partial(_try, advance, farm, exploration_id))
    if build.exploration_id is not None and not more_run:
        _advance_if_due(farm, session, build.exploration_id)


def _advance_if_due(farm: Farm, session: Session, exploration_id: str) -> None:
    # In a transaction of its own: what goes wrong in it must not undo the result that it follows.
    if is_due(session, explorations.lock(session, exploration_id)):
        after_commit(session, partial(_try, advance, farm, exploration_id))


def _try(follow: Callable[[Farm, str], None], farm: Farm, key: str) -> None:
    """Do what follows from a build whose end is stored: where that fails, the build has not failed."""
    try:
        follow(farm, key)
    except Exception:  # noqa: BLE001  # of all kinds: the caller has done its work
        _log.exception("what follows for %s is left to the reaper", key)


def _waiting(session: Session, build: Build) -> list[str]:
    """Explorations that wait for the import of their model."""
    return explorations.active(session, build.workload_id) if build.workload_id is not None else []


def _tell(farm: Farm, build_id: str) -> None:
    def tell(session: Session) -> None:
        exploration = explorations.lock_of(session, build_id)
        if exploration is not None:
            emit_build(farm, session, builds.get(session, build_id))
            _advance_if_due(farm, session, exploration.id)

    farm.database.retry(tell)


def _release(session: Session, build: Build) -> list[Build]:
    """What waited for this build's files to be made again, further up the ladder."""
    below_others = build.state == "done" and build.stage in ("csim", "csynth")
    return relations.release(session, build.id) if below_others else []


def _stop_above(session: Session, build: Build) -> list[Build]:
    """Cancel what waited for a build whose result is wrong."""
    above = [b for b in relations.behind(session, build.id) if b.state in OPEN_STATES]
    stopped = builds.cancel(session, [b.id for b in above])
    for one in stopped:
        one.error = f"not run: the {build.stage} of this design gave a wrong result ({build.id})"
    session.flush()
    return stopped


def _announce(farm: Farm, session: Session, found: Iterable[Build]) -> None:
    for build in found:
        if build.state == "queued":
            farm.queue.announce(session, build.queue)


def cancel(farm: Farm, session: Session, exploration_id: str) -> Exploration:
    """Stop the exploration and its builds; those who work on them lose their leases and kill their tools.

    A running build that another exploration waits for goes on, for it. Nothing happens when it is finished already.
    """
    exploration = explorations.lock(session, exploration_id)
    if exploration.state not in ACTIVE_STATES:
        return exploration
    move(farm, session, exploration, "cancelled")
    mine = [b for b in builds.of_exploration(session, exploration_id) if b.state in OPEN_STATES]
    ids = [b.id for b in mine]
    kept = relations.waited_for(session, ids)
    orphans = relations.running_for_nobody(session, [b.key for b in mine], ids)
    # What waits for nobody else but is behind a build that is kept is cancelled by itself.
    doomed = [*(i for i in ids if i not in kept), *(i for i in orphans if i not in kept)]
    _cancel(farm, session, [*doomed, *_import_of(session, exploration)])
    session.refresh(exploration)
    return exploration


def _import_of(session: Session, exploration: Exploration) -> list[str]:
    """The unfinished import of its model, where no other exploration waits for it."""
    # Locked before that is asked: who starts one meanwhile locks it too, and is either seen or finds it cancelled.
    found = builds.lock_import(session, exploration.workload_id)
    return [] if explorations.active(session, exploration.workload_id) else [build.id for build in found]


def _cancel(farm: Farm, session: Session, ids: Sequence[str]) -> list[Build]:
    cancelled = builds.cancel(session, ids)
    for build in cancelled:
        emit_build(farm, session, build)
    return cancelled


def resume(farm: Farm, session: Session, exploration_id: str) -> Exploration:
    """Go on with a failed or cancelled exploration where it stopped; what is stored is not done again.

    Raises ConflictError when it is done. Nothing happens while it is active.
    """
    exploration = explorations.lock(session, exploration_id)
    if exploration.state == "done":
        raise ConflictError(
            f"exploration {exploration_id} is done; start a new one to search further, or retry single builds"
        )
    if exploration.state in ACTIVE_STATES:
        return exploration
    revive(farm, session, builds.of_exploration(session, exploration_id, *DESIGN_STAGES, "calibrate"))
    move(farm, session, exploration, "queued")
    step(farm, session, exploration)
    session.refresh(exploration)
    return exploration


def start_build(
    farm: Farm, session: Session, design: Design, stage: DesignStage, options: Mapping[str, Any] | None = None
) -> Build:
    """The stage's build of the design with those it needs, queued now as far as they are not done or under way.

    `options` go over those of the exploration. Raises ConflictError where a stage below says that there is no point.
    """
    exploration = explorations.lock(session, design.exploration_id)
    return chains_of(farm, session, exploration).ensure(
        design, stage, {**exploration.options, **(options or {})}, revive=True
    )


def retry_build(farm: Farm, session: Session, build_id: str) -> Build:
    """Run a failed or cancelled build again, with what it waits for and what was cancelled behind it.

    Raises ConflictError where it is not at such an end, or would only fail in the same way again.
    """
    build = _locked(session, build_id)
    if build.state not in ("failed", "cancelled"):
        raise ConflictError(f"build {build_id} is {build.state}; only failed and cancelled ones can be retried")
    if build.stage == "search":
        assert build.exploration_id is not None
        resume(farm, session, build.exploration_id)
        return builds.get(session, build_id)
    below = relations.below(session, build_id)
    stuck = next((b for b in (*below, build) if is_dead_end(b)), None)
    if stuck is not None:
        raise ConflictError(
            f"the {stuck.stage} of this design fails whenever it is run: {stuck.error or 'its result is wrong'}; "
            "clone the build with other options, or change the design"
        )
    revive(farm, session, [*below, build, *relations.behind(session, build_id)])
    return builds.get(session, build_id)


def cancel_build(farm: Farm, session: Session, build_id: str) -> Build:
    """Stop a build and what waits for it; cancelling the search of an exploration cancels the exploration.

    Raises ConflictError when it is at its end already.
    """
    build = _locked(session, build_id)
    if build.state not in OPEN_STATES:
        raise ConflictError(f"build {build_id} is {build.state} already")
    if build.stage == "search":
        assert build.exploration_id is not None
        cancel(farm, session, build.exploration_id)
        return builds.get(session, build_id)
    first, *behind = builds.cancel(session, [build_id])
    ended(farm, session, first, behind)
    return builds.get(session, build_id)


def clone_build(farm: Farm, session: Session, build_id: str, options: Mapping[str, Any]) -> Build:
    """The same stage of the same design with other options (another version of Vitis, another clock): a chain of its
    own from the first stage that they change. Raises ConflictError for a build that is not of a design.
    """
    build = _locked(session, build_id)
    if build.design_id is None or build.stage not in DESIGN_STAGES:
        raise ConflictError(f"build {build_id} is the {build.stage} of no design; only builds of designs are cloned")
    chosen = {name: value for b in (*relations.below(session, build_id), build) for name, value in b.options.items()}
    return start_build(farm, session, designs.get(session, build.design_id), build.stage, {**chosen, **options})


def _locked(session: Session, build_id: str) -> Build:
    """The build, its exploration locked first."""
    build = builds.get(session, build_id)
    if build.exploration_id is not None:
        explorations.lock(session, build.exploration_id)
        session.refresh(build)
    return build
