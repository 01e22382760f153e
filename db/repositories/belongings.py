"""What belongs to a model, an exploration or a design: counted, with its bytes, and deleted with it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.orm import Session

from db.models import Artifact, Build, Calibration, Design, Event, Exploration, Metric, Model, Workload
from db.types import utcnow

Ids = Select[str]


@dataclass(frozen=True, slots=True)
class Belongings:
    """Rows by kind, and the files that nothing else names with their bytes; logs are not among the files."""

    designs: int
    builds: int
    events: int
    files: int
    bytes: int


def of_exploration(session: Session, exploration_id: str) -> Belongings:
    """Its designs, builds, events and files."""
    designs = _count(session, select(func.count()).where(Design.exploration_id == exploration_id))
    events = _count(session, select(func.count()).where(Event.exploration_id == exploration_id))
    return _with_files(session, _builds_of_exploration(exploration_id), designs, events)


def of_design(session: Session, design_id: str) -> Belongings:
    """Its builds and files."""
    return _with_files(session, _builds_of_design(design_id), 1, 0)


def of_model(session: Session, model: Model) -> Belongings:
    """Its imports, and its own file."""
    found = _with_files(session, _builds_of_model(model.id), 0, 0)
    alike = select(func.count()).where(Model.digest == model.digest, Model.id != model.id)
    size = int(model.config.get("size", 0)) if "digest" in model.config and not _count(session, alike) else 0
    return Belongings(0, found.builds, 0, found.files + (1 if size else 0), found.bytes + size)


def delete_exploration(session: Session, exploration_id: str) -> None:
    """Remove a locked exploration with its designs, builds, metrics, files' rows and events. The contents of files
    that no other row names are `worker.backup.collecting`'s.
    """
    own = select(Design.id).where(Design.exploration_id == exploration_id)
    _delete_builds(session, _builds_of_exploration(exploration_id), own)
    _execute(session, delete(Design).where(Design.exploration_id == exploration_id))
    _execute(session, delete(Event).where(Event.exploration_id == exploration_id))
    _execute(session, delete(Exploration).where(Exploration.id == exploration_id))
    session.expire_all()


def delete_design(session: Session, design: Design) -> None:
    """Remove a design of a locked exploration with its builds, metrics and files' rows. The search that found it is
    taken over by no other exploration from now on: its result lacks this design.
    """
    search = (Build.exploration_id == design.exploration_id) & (Build.stage == "search")
    _execute(session, update(Build).where(search).values(expired_at=utcnow()))
    _delete_builds(session, _builds_of_design(design.id), select(Design.id).where(Design.id == design.id))
    _execute(session, delete(Design).where(Design.id == design.id))
    session.expire_all()


def delete_model(session: Session, model_id: str) -> None:
    """Remove a model with its workloads, which no exploration has, and their imports."""
    _delete_builds(session, _builds_of_model(model_id), select(Design.id).where(Design.id.is_(None)))
    _execute(session, delete(Workload).where(Workload.model_id == model_id))
    _execute(session, delete(Model).where(Model.id == model_id))
    session.expire_all()


def _builds_of_exploration(exploration_id: str) -> Ids:
    own = select(Design.id).where(Design.exploration_id == exploration_id)
    return select(Build.id).where(or_(Build.exploration_id == exploration_id, Build.design_id.in_(own)))


def _builds_of_design(design_id: str) -> Ids:
    return select(Build.id).where(Build.design_id == design_id)


def _builds_of_model(model_id: str) -> Ids:
    own = select(Workload.id).where(Workload.model_id == model_id)
    return select(Build.id).where(Build.workload_id.in_(own))


def _with_files(session: Session, builds: Ids, designs: int, events: int) -> Belongings:
    own = select(Artifact.digest, Artifact.size).where(Artifact.build_id.in_(builds)).distinct().subquery()
    others = select(Artifact.id).where(Artifact.digest == own.c.digest, Artifact.build_id.not_in(builds))
    alone = select(func.count(), func.coalesce(func.sum(own.c.size), 0)).select_from(own).where(~others.exists())
    files, size = session.execute(alone).one()
    number = _count(session, select(func.count()).select_from(builds.subquery()))
    return Belongings(designs, number, events, files, int(size))


def _count(session: Session, query: Select[int]) -> int:
    return session.scalars(query).one()


def _delete_builds(session: Session, builds: Ids, designs: Ids) -> None:
    """Remove builds with what they left, and what else is known of the designs."""
    _execute(session, delete(Metric).where(or_(Metric.design_id.in_(designs), Metric.build_id.in_(builds))))
    _execute(session, delete(Artifact).where(or_(Artifact.design_id.in_(designs), Artifact.build_id.in_(builds))))
    _execute(session, update(Calibration).where(Calibration.build_id.in_(builds)).values(build_id=None))
    _execute(session, update(Build).where(Build.id.in_(builds)).values(after_id=None))
    _execute(session, delete(Build).where(Build.id.in_(builds)))


def _execute(session: Session, statement: Any) -> None:
    session.execute(statement, execution_options={"synchronize_session": False})
