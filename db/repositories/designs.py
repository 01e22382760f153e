"""Designs and their metrics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from db.errors import NotFoundError
from db.ids import new_id
from db.models import Design, Metric
from db.types import utcnow


@dataclass(frozen=True, slots=True)
class NewMetric:
    """One number of a new design, with its provenance."""

    name: str
    value: float
    unit: str
    fidelity: str
    tool: str
    tool_version: str


@dataclass(frozen=True, slots=True)
class NewDesign:
    """What the search found out about one point. A design that can not be built has a reason and no objectives."""

    number: int
    key: str
    knobs: dict[str, Any]
    feasible: bool
    latency_us: float | None
    energy_uj: float | None
    violations: list[dict[str, Any]]
    reason: str | None
    seconds: float
    metrics: tuple[NewMetric, ...]


def add(session: Session, exploration_id: str, designs: Sequence[NewDesign]) -> list[str]:
    """Store a batch; the new ids in the same order. A number or key that is there already raises IntegrityError."""
    now = utcnow()
    ids = [new_id("dsg") for _ in designs]
    rows = [
        {
            "id": design_id,
            "exploration_id": exploration_id,
            "number": d.number,
            "key": d.key,
            "knobs": d.knobs,
            "feasible": d.feasible,
            "latency_us": d.latency_us,
            "energy_uj": d.energy_uj,
            "violations": d.violations,
            "reason": d.reason,
            "on_front": False,
            "seconds": d.seconds,
            "created_at": now,
        }
        for design_id, d in zip(ids, designs, strict=True)
    ]
    session.execute(insert(Design), rows)
    metrics = [
        {
            "design_id": design_id,
            "name": m.name,
            "value": m.value,
            "unit": m.unit,
            "fidelity": m.fidelity,
            "tool": m.tool,
            "tool_version": m.tool_version,
            "build_id": None,
        }
        for design_id, d in zip(ids, designs, strict=True)
        for m in d.metrics
    ]
    if metrics:
        session.execute(insert(Metric), metrics)
    return ids


def get(session: Session, design_id: str) -> Design:
    design = session.get(Design, design_id)
    if design is None:
        raise NotFoundError("design", design_id)
    return design


def stored(session: Session, exploration_id: str) -> Sequence[Design]:
    """Every design of the exploration in order of evaluation."""
    query = select(Design).where(Design.exploration_id == exploration_id).order_by(Design.number)
    return session.scalars(query).all()


def page(session: Session, exploration_id: str, after: int | None, limit: int, front: bool = False) -> Sequence[Design]:
    """In order of evaluation, those after number `after`; with `front` those on the Pareto front only."""
    query = select(Design).where(Design.exploration_id == exploration_id).order_by(Design.number).limit(limit)
    if after is not None:
        query = query.where(Design.number > after)
    if front:
        query = query.where(Design.on_front)
    return session.scalars(query).all()


def front_ids(session: Session, exploration_id: str) -> list[str]:
    """Ids on the Pareto front, fastest first."""
    query = select(Design.id).where(Design.exploration_id == exploration_id, Design.on_front)
    return list(session.scalars(query.order_by(Design.latency_us, Design.number)))


def front(session: Session, exploration_id: str) -> Sequence[Design]:
    """Designs on the Pareto front, fastest first."""
    query = select(Design).where(Design.exploration_id == exploration_id, Design.on_front)
    return session.scalars(query.order_by(Design.latency_us, Design.number)).all()


def set_front(session: Session, exploration_id: str, keys: Iterable[str]) -> bool:
    """Make exactly the designs with these keys the front; True when that changed anything."""
    wanted = set(keys)
    query = select(Design.key).where(Design.exploration_id == exploration_id, Design.on_front)
    before = set(session.scalars(query))
    for flag, changed in ((False, before - wanted), (True, wanted - before)):
        if changed:
            session.execute(
                update(Design)
                .where(Design.exploration_id == exploration_id, Design.key.in_(changed))
                .values(on_front=flag)
                .execution_options(synchronize_session=False)
            )
    return before != wanted


def metrics_of(session: Session, design_ids: Sequence[str]) -> dict[str, list[Metric]]:
    """Metrics by design id, in the order they were stored."""
    found: dict[str, list[Metric]] = {key: [] for key in design_ids}
    for metric in session.scalars(select(Metric).where(Metric.design_id.in_(design_ids)).order_by(Metric.id)):
        found[metric.design_id].append(metric)
    return found


def metrics_of_exploration(session: Session, exploration_id: str) -> dict[str, list[Metric]]:
    """Metrics by design id of all designs of an exploration."""
    found: dict[str, list[Metric]] = {}
    query = select(Metric).join(Design, Metric.design_id == Design.id).where(Design.exploration_id == exploration_id)
    for metric in session.scalars(query.order_by(Metric.id)):
        found.setdefault(metric.design_id, []).append(metric)
    return found
