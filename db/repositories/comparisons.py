"""What the comparison of two runs of a sweep reads."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import Session

from db.models import ACTIVE_STATES, Build, Design, Exploration, Sweep, SweepRun

_CHUNK = 500  # SQLite bounds the parameters of a statement


def explorations(session: Session, run_id: str) -> Sequence[Exploration]:
    """Of one run of a sweep, in the order of its matrix."""
    query = select(Exploration).where(Exploration.sweep_run_id == run_id).order_by(Exploration.id)
    return session.scalars(query).unique().all()


def progress(session: Session, run_ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Explorations of each run, and those of them that have ended."""
    ended = func.count(Exploration.id).filter(Exploration.state.not_in(ACTIVE_STATES))
    query = (
        select(Exploration.sweep_run_id, func.count(), ended)
        .where(Exploration.sweep_run_id.in_(run_ids))
        .group_by(Exploration.sweep_run_id)
    )
    return {run_id: (total, done) for run_id, total, done in session.execute(query) if run_id is not None}


def looked_at(session: Session, exploration_id: str, keys: Collection[str] = ()) -> list[Design]:
    """Designs of the front, those that went beyond their estimate, and those with these keys, in order of number."""
    built = exists().where(Build.design_id == Design.id)
    query = select(Design).where(Design.exploration_id == exploration_id)
    found = {d.id: d for d in session.scalars(query.where(or_(Design.on_front, built)))}
    for chunk in _chunks(sorted(keys)):
        found |= {d.id: d for d in session.scalars(query.where(Design.key.in_(chunk)))}
    return sorted(found.values(), key=lambda d: d.number)


def builds(session: Session, exploration_id: str) -> Sequence[Build]:
    """All builds of an exploration and of its designs, oldest first."""
    return session.scalars(select(Build).where(Build.exploration_id == exploration_id).order_by(Build.id)).all()


def import_of(session: Session, exploration: Exploration) -> Build | None:
    """The import of its model that the exploration started from."""
    query = select(Build).where(Build.workload_id == exploration.workload_id, Build.state == "done")
    if exploration.finished_at is not None:
        query = query.where(Build.created_at <= exploration.finished_at)
    return session.scalars(query.order_by(Build.id.desc()).limit(1)).first()


def build_counts(session: Session, run: SweepRun) -> tuple[int, int]:
    """Builds that ran for the explorations of the run, imports of their models too, and builds that were adopted."""
    of_run = select(Exploration.id).where(Exploration.sweep_run_id == run.id)
    workloads = select(Exploration.workload_id).where(Exploration.sweep_run_id == run.id)
    imports = and_(Build.workload_id.in_(workloads), Build.started_at >= run.created_at)
    adopted = func.count(Build.adopted_from)
    query = select(func.count(), adopted).where(Build.state.in_(("done", "failed")))
    total, cached = session.execute(query.where(or_(Build.exploration_id.in_(of_run), imports))).one()
    return total - cached, cached


def unsent(session: Session, since: datetime) -> Sequence[SweepRun]:
    """Runs that have ended `since` then and whose webhook has not been called to an end, oldest first."""
    # First without the comparisons, which are large. A run that was not started has none.
    ended = select(SweepRun.id).join(Sweep, SweepRun.sweep_id == Sweep.id)
    ended = ended.where(Sweep.webhook.is_not(None), SweepRun.finished_at >= since, SweepRun.comparison.is_not(None))
    state = SweepRun.comparison["webhook"]["state"].as_string()
    query = select(SweepRun).where(state.in_(("waiting", "sending"))).order_by(SweepRun.id)
    ids = session.scalars(ended.order_by(SweepRun.id)).all()
    return [run for chunk in _chunks(ids) for run in session.scalars(query.where(SweepRun.id.in_(chunk)))]


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]
