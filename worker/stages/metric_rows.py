"""Metrics between the compiler's values and the table's rows."""

from collections.abc import Iterable
from math import isfinite

from compiler.metrics import Fidelity, Metric
from db import models
from db.repositories.designs import NewMetric


def new_metrics(metrics: Iterable[Metric]) -> tuple[NewMetric, ...]:
    """Rows to store; a value that is no number has none (`worker.stages.flags` says so)."""
    finite = (m for m in metrics if isfinite(m.value))
    return tuple(NewMetric(m.name, m.value, m.unit, m.fidelity, m.tool, m.tool_version) for m in finite)


def stored_metrics(rows: Iterable[models.Metric]) -> list[Metric]:
    """The compiler's values of stored rows."""
    return [Metric(m.name, m.value, m.unit, Fidelity(m.fidelity), m.tool, m.tool_version, m.build_id) for m in rows]
