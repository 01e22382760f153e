"""Explorations: their rows, their state, their counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, lazyload

from db.errors import NotFoundError
from db.ids import new_id
from db.models import ACTIVE_STATES, Build, Design, Exploration, ExplorationState, Priority, Workload
from db.repositories import naming
from db.repositories._statements import insert_or_ignore
from db.types import utcnow


@dataclass(frozen=True, slots=True)
class Label:
    """What people write on an exploration; without a name one is made."""

    name: str | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""


UNLABELLED = Label()


@dataclass(frozen=True, slots=True)
class Counts:
    """Designs of one exploration: evaluated, those within budget, those on the Pareto front; those that were promoted
    to `simulate`, and those of them for which that has ended.
    """

    evaluated: int = 0
    feasible: int = 0
    front: int = 0
    promoted: int = 0
    simulated: int = 0


def add(
    session: Session,
    workload: Workload,
    platform: str,
    objectives: list[str],
    options: dict[str, Any],
    budget: int,
    *,
    priority: Priority = "normal",
    owner: str | None = None,
    sweep_run_id: str | None = None,
    label: Label = UNLABELLED,
) -> Exploration:
    """Store a new one, queued; where its label has no name, one is made. Raises ConflictError for a name that is
    taken.
    """
    row = {
        "id": new_id("exp"),
        "tags": list(label.tags),
        "notes": label.notes,
        "workload_id": workload.id,
        "platform": platform,
        "objectives": objectives,
        "options": options,
        "budget": budget,
        "state": "queued",
        "priority": priority,
        "owner": owner,
        "sweep_run_id": sweep_run_id,
    }
    while not insert_or_ignore(session, Exploration, row | {"name": label.name or naming.made_name(session, workload)}):
        if label.name is not None:
            raise naming.taken(label.name)
    return session.get_one(Exploration, row["id"])


def relabel(session: Session, exploration: Exploration, changes: Mapping[str, Any]) -> None:
    """Set what is given of `name`, `tags`, `notes`, `archived` and `pinned` of a locked exploration. Raises
    ConflictError for a name that is taken.
    """
    for field, value in changes.items():
        setattr(exploration, field, value)
    try:
        session.flush()
    except IntegrityError as error:
        raise naming.taken(changes["name"]) from error


def get(session: Session, exploration_id: str) -> Exploration:
    exploration = session.get(Exploration, exploration_id)
    if exploration is None:
        raise NotFoundError("exploration", exploration_id)
    return exploration


def lock(session: Session, exploration_id: str) -> Exploration:
    """Read the row and keep others from changing it or its events until this transaction ends.

    Whoever locks an exploration and one of its builds takes the exploration first. What this transaction has locked
    already is not read again.
    """
    if exploration_id in _locked(session):
        return get(session, exploration_id)
    exploration = _lock(session, select(Exploration).where(Exploration.id == exploration_id))
    if exploration is None:
        raise NotFoundError("exploration", exploration_id)
    return exploration


def lock_of(session: Session, build_id: str) -> Exploration | None:
    """`lock` the exploration of a build; None for one that is of a workload."""
    query = select(Exploration).join(Build, Build.exploration_id == Exploration.id)
    return _lock(session, query.where(Build.id == build_id))


def _lock(session: Session, query: Select[Exploration]) -> Exploration | None:
    alone = query.options(lazyload(Exploration.workload)).with_for_update(of=Exploration)  # hardly anybody looks at it
    exploration = session.scalars(alone.execution_options(populate_existing=True)).first()
    if exploration is not None:
        _locked(session).add(exploration.id)
    return exploration


def _locked(session: Session) -> set[str]:
    """Ids of those that this transaction has locked."""
    return session.info.setdefault("locked explorations", set())


def page(
    session: Session,
    before: str | None,
    limit: int,
    state: str | None = None,
    owner: str | None = None,
    *,
    archived: bool = False,
) -> Sequence[Exploration]:
    """Newest first, those older than id `before`; with `archived` those too that lists leave out."""
    query = select(Exploration).order_by(Exploration.id.desc()).limit(limit)
    if not archived:
        query = query.where(~Exploration.archived)
    if before is not None:
        query = query.where(Exploration.id < before)
    if state is not None:
        query = query.where(Exploration.state == state)
    if owner is not None:
        query = query.where(Exploration.owner == owner)
    return session.scalars(query).all()


def active(session: Session, workload_id: str | None = None) -> list[str]:
    """Ids of the explorations that are not finished, oldest first."""
    query = select(Exploration.id).where(Exploration.state.in_(ACTIVE_STATES)).order_by(Exploration.id)
    return list(session.scalars(query if workload_id is None else query.where(Exploration.workload_id == workload_id)))


def transition(
    session: Session,
    exploration_id: str,
    sources: Sequence[ExplorationState],
    target: ExplorationState,
    error: str | None = None,
) -> bool:
    """Move the exploration to `target` if it is in one of `sources`; False when it is not."""
    exploration = lock(session, exploration_id)
    if exploration.state not in sources:
        return False
    now = utcnow()
    exploration.state, exploration.error = target, error
    if target == "queued":
        exploration.finished_at = None
    elif target in ACTIVE_STATES:
        exploration.started_at = exploration.started_at or now
    else:
        exploration.finished_at = now
    session.flush()
    return True


def counts(session: Session, exploration_ids: Sequence[str]) -> dict[str, Counts]:
    """Counts by exploration id; an exploration without designs has none."""
    query = (
        select(
            Design.exploration_id,
            func.count(),
            func.sum(case((Design.feasible, 1), else_=0)),
            func.sum(case((Design.on_front, 1), else_=0)),
        )
        .where(Design.exploration_id.in_(exploration_ids))
        .group_by(Design.exploration_id)
    )
    simulations = _simulations(session, exploration_ids)
    return {
        key: Counts(total, feasible, front, *simulations.get(key, (0, 0)))
        for key, total, feasible, front in session.execute(query).all()
    }


def _simulations(session: Session, exploration_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Designs with a simulation, and with one that has ended, by exploration id."""
    ended = case((Build.state.in_(("done", "failed")), Build.design_id))
    query = (
        select(Build.exploration_id, func.count(Build.design_id.distinct()), func.count(ended.distinct()))
        .where(Build.exploration_id.in_(exploration_ids), Build.stage == "simulate")
        .group_by(Build.exploration_id)
    )
    return {key: (total, done) for key, total, done in session.execute(query).all() if key is not None}
