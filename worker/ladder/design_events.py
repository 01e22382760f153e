"""What followers of an exploration are told about its designs: columns, since there are thousands of them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from db.models import Design
from db.repositories import designs
from worker.farm import Farm

_BATCH = 256


def columns_of(rows: Sequence[Design]) -> dict[str, list[Any]]:
    """The event `designs` of new ones: those on which nothing has been built yet."""
    return {
        "id": [d.id for d in rows],
        "number": [d.number for d in rows],
        "latency_us": [d.latency_us for d in rows],
        "energy_uj": [d.energy_uj for d in rows],
        "feasible": [d.feasible for d in rows],
        "on_front": [d.on_front for d in rows],
        "csim": [None for _ in rows],
        "simulated_us": [None for _ in rows],
        "simulation": [None for _ in rows],
    }


def emit_adopted(farm: Farm, session: Session, exploration_id: str) -> None:
    """Tell of all designs of an exploration whose search another one has made."""
    rows = designs.stored(session, exploration_id)
    for start in range(0, len(rows), _BATCH):
        farm.emit(session, exploration_id, "designs", columns_of(rows[start : start + _BATCH]))
    farm.emit(session, exploration_id, "front", {"ids": designs.front_ids(session, exploration_id)})
