"""What followers of an exploration are told about its designs: columns, since there are thousands of them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from db.models import Build, Design
from db.repositories import designs, explorations
from worker.farm import Farm
from worker.ladder.islands import turn_of

_BATCH = 256


def columns_of(rows: Sequence[Design], objectives: int) -> dict[str, list[Any]]:
    """The event `designs` of new ones: those on which nothing has been built yet. `objectives`: how many there are."""
    return {
        "id": [d.id for d in rows],
        "number": [d.number for d in rows],
        "objectives": objective_columns([d.objectives for d in rows], objectives),
        "latency_us": [d.latency_us for d in rows],
        "feasible": [d.feasible for d in rows],
        "on_front": [d.on_front for d in rows],
        "csim": [None for _ in rows],
        "simulated_us": [None for _ in rows],
        "simulation": [None for _ in rows],
    }


def objective_columns(rows: Sequence[Sequence[float]], count: int) -> list[list[float | None]]:
    """One list an objective, with None for a design that can not be built."""
    return [[values[place] if values else None for values in rows] for place in range(count)]


def emit_adopted(farm: Farm, session: Session, search: Build) -> None:
    """Tell of the designs that another exploration's search has found for this one."""
    assert search.exploration_id is not None
    exploration, turn = explorations.get(session, search.exploration_id), turn_of(search.options)
    rows = designs.between(session, exploration.id, turn.first, turn.end)
    for start in range(0, len(rows), _BATCH):
        columns = columns_of(rows[start : start + _BATCH], len(exploration.objectives))
        farm.emit(session, exploration.id, "designs", columns)
    farm.emit(session, exploration.id, "front", {"ids": designs.front_ids(session, exploration.id)})
