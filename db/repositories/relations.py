"""How builds hang together: what one waits for, what waits for it, and who else wants the same result."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from db.models import ACTIVE_STATES, Artifact, Build, Exploration
from db.repositories import turns


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
    """Those of these builds that run, for whose result another active exploration waits: it has queued the same key."""
    twin = aliased(Build)
    query = (
        select(Build.id)
        .join(twin, (twin.key == Build.key) & (twin.id != Build.id) & (twin.state == "queued"))
        .join(Exploration, twin.exploration_id == Exploration.id)
        .where(Build.id.in_(build_ids), Build.state == "running", Exploration.state.in_(ACTIVE_STATES))
        .where(twin.exploration_id != Build.exploration_id)
    )
    return set(session.scalars(query))


def running_for_nobody(session: Session, keys: Collection[str], waiting: Collection[str]) -> list[str]:
    """Running builds with these keys of cancelled explorations, for which nobody waits but the builds `waiting`."""
    query = (
        select(Build.id, Build.key)
        .join(Exploration, Build.exploration_id == Exploration.id)
        .where(Build.key.in_(keys), Build.state == "running", Exploration.state == "cancelled")
    )
    running = {row.key: row.id for row in session.execute(query)}
    others = select(Build.key).where(Build.key.in_(list(running)), Build.state == "queued", Build.id.not_in(waiting))
    wanted = set(session.scalars(others))
    return [build_id for key, build_id in running.items() if key not in wanted]


def release(session: Session, build_id: str) -> list[Build]:
    """Queue what is blocked behind this build although what it waits for is done: see `run_again`."""
    released: list[Build] = []
    for build in behind(session, build_id):
        before = session.get(Build, build.after_id)
        if build.state == "blocked" and before is not None and before.state == "done":
            turns.enqueue(session, build)
            released.append(build)
    return released


def run_again(session: Session, done_id: str, waiting_id: str) -> list[Build]:
    """Queue a done build whose files are lost, with all that share its result, and block `waiting_id`, which needs them
    and is somewhere behind it. Those that are queued now; `release` is for when they are done.
    """
    lost = session.scalars(select(Build).where(Build.id == done_id)).one()
    query = select(Build).where(Build.key == lost.key, Build.state == "done").order_by(Build.id).with_for_update()
    again = list(session.scalars(query))
    for build in again:
        build.attempt, build.verdict, build.finished_at, build.adopted_from = 0, None, None, None
        turns.enqueue(session, build)
    waiting = session.scalars(select(Build).where(Build.id == waiting_id)).one()
    if waiting.state == "queued":
        waiting.state, waiting.fair_tag = "blocked", 0.0
    session.flush()
    return again
