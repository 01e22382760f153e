"""How builds hang together: what one waits for, what waits for it, and who else wants the same result."""

from collections.abc import Collection

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session, aliased

from db.models import Artifact, Build, Exploration
from db.repositories import ladder, turns


def below(session: Session, build_id: str) -> list[Build]:
    """The builds that this one waits for, directly or through others; the first of the ladder comes first."""
    found: list[Build] = []
    build = session.get(Build, build_id)
    while build is not None and build.after_id is not None:
        build = session.get(Build, build.after_id)
        if build is not None:
            found.insert(0, build)
    return found


def behind(session: Session, build_id: str) -> list[Build]:
    """The builds that wait for this one, directly or through others; nearer ones first."""
    found: list[Build] = []
    ids = [build_id]
    while ids:
        next_ones = session.scalars(select(Build).where(Build.after_id.in_(ids)).order_by(Build.id)).all()
        found += next_ones
        ids = [build.id for build in next_ones]
    return found


def files_of(session: Session, build_id: str) -> dict[str, str]:
    """Digests of what the build has stored, by path."""
    query = select(Artifact.path, Artifact.digest).where(Artifact.build_id == build_id)
    return {row.path: row.digest for row in session.execute(query.order_by(Artifact.path))}


def waited_for(session: Session, build_ids: Collection[str]) -> set[str]:
    """Those of these builds that run, for whose result another exploration waits: it has queued the same key, and was
    not cancelled. One that is done may have been asked for a build more.
    """
    twin = aliased(Build)
    query = (
        select(Build.id)
        .join(twin, (twin.key == Build.key) & (twin.id != Build.id) & (twin.state == "queued"))
        .join(Exploration, twin.exploration_id == Exploration.id)
        .where(Build.id.in_(build_ids), Build.state == "running", Exploration.state != "cancelled")
        .where(twin.exploration_id != Build.exploration_id)
    )
    return set(session.scalars(query))


def running_for_nobody(session: Session, keys: Collection[str], waiting: Collection[str]) -> list[str]:
    """Builds with these keys of cancelled explorations that run, or wait to be tried again, for which nobody waits but
    the builds `waiting`.
    """
    tried = and_(Build.state == "queued", Build.attempt > 0)  # one that a person has queued again was not, since then
    query = (
        select(Build.id, Build.key)
        .join(Exploration, Build.exploration_id == Exploration.id)
        .where(Build.key.in_(keys), or_(Build.state == "running", tried), Exploration.state == "cancelled")
    )
    kept = {row.id: row.key for row in session.execute(query) if row.id not in waiting}
    queued = select(Build.id, Build.key).where(Build.key.in_(set(kept.values())), Build.state == "queued")
    wanted = {row.key for row in session.execute(queued) if row.id not in waiting and row.id not in kept}
    return [build_id for build_id, key in kept.items() if key not in wanted]


def release(session: Session, build_id: str) -> list[Build]:
    """Queue what is blocked behind this build although what it waits for is done: see `run_again`."""
    blocked = [build.id for build in behind(session, build_id) if build.state == "blocked"]
    if not blocked:
        return []
    before = aliased(Build)
    query = select(Build).join(before, Build.after_id == before.id).where(before.state == "done")
    # Again, and locked: one of another exploration may have been cancelled meanwhile.
    query = query.where(Build.id.in_(blocked), Build.state == "blocked").order_by(Build.id).with_for_update(of=Build)
    released = list(session.scalars(query.execution_options(populate_existing=True)))
    for build in released:
        turns.enqueue(session, build)
    return released


def run_again(session: Session, maker_id: str, waiting_id: str) -> list[Build]:
    """Queue a done build whose files are lost, with all that share its result, and block `waiting_id`, which needs them
    and is somewhere behind it. Those that are queued now; `release` is for when they are done. Where the maker has been
    run again already, and failed or was cancelled, `waiting_id` is cancelled.
    """
    maker = session.get_one(Build, maker_id)
    makers = or_(Build.state == "done", Build.id == maker_id)
    query = select(Build).where(Build.key == maker.key, makers).order_by(Build.state.desc(), Build.id)
    found = session.scalars(query.with_for_update(), execution_options={"populate_existing": True}).all()
    waiting = session.get_one(Build, waiting_id)
    if ladder.has_given_up(maker):
        if waiting.state == "queued":
            ladder.give_up(session, waiting, maker)
        return []
    again = [build for build in found if build.state == "done"]
    for build in again:
        build.attempt, build.verdict, build.finished_at, build.adopted_from = 0, None, None, None
        build.expired_at = None
        turns.enqueue(session, build)
    if waiting.state == "queued":
        waiting.state, waiting.fair_tag = "blocked", 0.0
    session.flush()
    return again
