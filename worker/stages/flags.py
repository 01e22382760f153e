"""Values that can not be, looked for where metrics are stored (design section 4)."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import Session

from compiler.analysis.limits import impossible
from compiler.metrics import Metric
from compiler.platforms.platform import Platform
from db.repositories import designs
from worker.stages.metric_rows import stored_metrics


def flags_of(metrics: Iterable[Metric], platform: Platform) -> list[dict[str, Any]]:
    """What of the metrics of one design can not be, with the limit that it breaks; as the column `flags` keeps it."""
    return [flag.to_json() for flag in impossible(tuple(metrics), platform)]


def flags_now(session: Session, design_id: str, platform: Platform) -> list[dict[str, Any]]:
    """The flags of all metrics that are stored of the design, of whatever fidelity."""
    return flags_of(stored_metrics(designs.metrics_of(session, [design_id])[design_id]), platform)
