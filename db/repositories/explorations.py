"""Explorations: their rows, their state, their counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.ids import new_id
from db.models import ACTIVE_STATES, Build, Design, Exploration, ExplorationState, Workload
from db.repositories._statements import rowcount
from db.types import utcnow


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
    objectives: list[dict[str, Any]],
    options: dict[str, Any],
    budget: int,
) -> Exploration:
    exploration = Exploration(
        id=new_id("exp"),
        workload_id=workload.id,
        workload=workload,
        platform=platform,
        objectives=objectives,
        options=options,
        budget=budget,
        state="queued",
        lease_token=0,
        losses=0,
    )
    session.add(exploration)
    session.flush()
    return exploration


def get(session: Session, exploration_id: str) -> Exploration:
    exploration = session.get(Exploration, exploration_id)
    if exploration is None:
        raise NotFoundError("exploration", exploration_id)
    return exploration


def lock(session: Session, exploration_id: str) -> Exploration:
    """Read the row and keep others from changing it or its events until this transaction ends.

    Whoever locks an exploration and one of its builds takes the exploration first.
    """
    query = select(Exploration).where(Exploration.id == exploration_id).with_for_update(of=Exploration)
    exploration = session.scalars(query.execution_options(populate_existing=True)).first()
    if exploration is None:
        raise NotFoundError("exploration", exploration_id)
    return exploration


def page(session: Session, before: str | None, limit: int, state: str | None = None) -> Sequence[Exploration]:
    """Newest first, those older than id `before`."""
    query = select(Exploration).order_by(Exploration.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Exploration.id < before)
    if state is not None:
        query = query.where(Exploration.state == state)
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
    now = utcnow()
    values: dict[str, Any] = {"state": target, "error": error}
    if target == "queued":
        values |= {"finished_at": None, "losses": 0, "enqueued_at": None}
    elif target in ACTIVE_STATES:
        values |= {"started_at": case((Exploration.started_at.is_(None), now), else_=Exploration.started_at)}
    else:
        values |= {"finished_at": now}
    result = session.execute(
        update(Exploration)
        .where(Exploration.id == exploration_id, Exploration.state.in_(sources))
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    session.expire_all()
    return rowcount(result) > 0


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
        select(Design.exploration_id, func.count(Build.design_id.distinct()), func.count(ended.distinct()))
        .join(Build, Build.design_id == Design.id)
        .where(Design.exploration_id.in_(exploration_ids), Build.stage == "simulate")
        .group_by(Design.exploration_id)
    )
    return {key: (total, done) for key, total, done in session.execute(query).all()}
