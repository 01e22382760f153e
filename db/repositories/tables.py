"""Every design of an exploration with everything that is known of it, as plain columns: no objects are made of rows."""

from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import Design, Metric


class DesignRow(NamedTuple):
    """One design; objectives are the estimate's, us and uJ."""

    id: str
    number: int
    feasible: bool
    on_front: bool
    latency_us: float | None
    energy_uj: float | None
    reason: str | None
    refuted: str | None
    flags: list[Any]
    knobs: dict[str, Any]


class MetricKind(NamedTuple):
    """What the metrics of a column have in common."""

    name: str
    fidelity: str
    unit: str


def design_rows(session: Session, exploration_id: str) -> list[DesignRow]:
    """Those that are not archived, in order of evaluation."""
    columns = [getattr(Design, name) for name in DesignRow._fields]
    query = select(*columns).where(Design.exploration_id == exploration_id, ~Design.archived).order_by(Design.number)
    return [DesignRow(*row) for row in session.execute(query)]


def metric_values(session: Session, exploration_id: str) -> dict[MetricKind, dict[str, float]]:
    """Values by design id, by kind in the order in which the kinds first came. Of two the newer stands."""
    of = Metric.name, Metric.fidelity, Metric.unit
    query = select(*of, Metric.design_id, Metric.value).join(Design, Metric.design_id == Design.id)
    query = query.where(Design.exploration_id == exploration_id).order_by(Metric.id)
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, fidelity, unit, design_id, value in session.execute(query):
        found.setdefault((name, fidelity, unit), {})[design_id] = value
    return {MetricKind(*kind): values for kind, values in found.items()}
